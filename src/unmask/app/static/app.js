// Live progress, and sliders. Without scripts pages load themselves again while something runs, and the stops of a slider
// are links; nothing else needs this file.
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
