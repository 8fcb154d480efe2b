// Live progress, sliders, and dragged values. Without scripts pages load themselves again while something runs, the stops
// of a slider are links, and values are moved by a button.
for (const box of document.querySelectorAll("[data-events]")) {
  const source = new EventSource(box.dataset.events);
  source.onmessage = (event) => { box.querySelector("[data-progress]").textContent = event.data; };
  source.addEventListener("end", () => { source.close(); location.reload(); });
}

// A slider moves along the links below it.
for (const slide of document.querySelectorAll(".slide")) {
  const range = slide.querySelector("input"), stops = slide.querySelectorAll("a");
  let soon;
  range.hidden = false;
  range.oninput = () => {
    const at = stops[range.value];
    range.setAttribute("aria-valuetext", at.textContent);
    stops.forEach((stop) => stop.toggleAttribute("aria-current", stop === at));
    clearTimeout(soon);
    soon = setTimeout(() => { location = at.href + "#" + range.id; }, 350);
  };
  range.setAttribute("aria-valuetext", stops[range.value].textContent);
  if (location.hash === "#" + range.id) range.focus({ preventScroll: true });
}

// Dragging moves the dragged value and the selected ones: the group below the mouse is chosen in the form, which is sent.
for (const board of document.querySelectorAll(".board")) {
  board.ondragstart = (event) => { event.target.querySelector("input").checked = true; event.dataTransfer.setData("text/plain", ""); };
  for (const card of board.querySelectorAll("[data-group]")) {
    card.ondragover = (event) => { event.preventDefault(); card.classList.add("over"); };
    card.ondragleave = () => card.classList.remove("over");
    card.ondrop = (event) => {
      event.preventDefault();
      board.elements.group.value = card.dataset.group;
      board.querySelector("[value=move]").click();
    };
  }
}
