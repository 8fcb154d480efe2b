// Charts in a browser: a value is shown where a pointer is near it.
// Without this script every page is complete: the values are in titles and tables.
for (const drawing of document.querySelectorAll(".drawing")) {
  const values = [...drawing.querySelectorAll("svg.chart title")].map((title) => {
    const of = title.parentNode, said = title.textContent;
    title.remove();
    return { of, said };
  });
  const tip = Object.assign(document.createElement("div"), { className: "tip", hidden: true });
  let shown = null;
  const show = (value, at) => {
    shown?.of.querySelectorAll(".mark").forEach((mark) => mark.classList.remove("near"));
    shown = value;
    tip.hidden = !value;
    if (!value) return;
    value.of.querySelectorAll(".mark").forEach((mark) => mark.classList.add("near"));
    tip.textContent = value.said;
    const frame = drawing.getBoundingClientRect(), right = at.x - frame.x > frame.width / 2;
    tip.style.left = right ? "auto" : `${at.x - frame.x + 12}px`;
    tip.style.right = right ? `${frame.right - at.x + 12}px` : "auto";
    tip.style.top = `${at.y - frame.y + 14}px`;
  };
  const near = (event) => {
    let best = null, least = 28;
    for (const value of values) {
      const box = value.of.getBoundingClientRect();
      const across = Math.max(box.left - event.clientX, 0, event.clientX - box.right);
      const down = Math.max(box.top - event.clientY, 0, event.clientY - box.bottom);
      const off = Math.hypot(event.clientX - (box.left + box.right) / 2, event.clientY - (box.top + box.bottom) / 2);
      const far = Math.hypot(across, down) + off / 1000;
      if (far < least) [best, least] = [value, far];
    }
    show(best, { x: event.clientX, y: event.clientY });
  };
  if (values.length) {
    drawing.append(tip);
    drawing.addEventListener("pointermove", near);
    drawing.addEventListener("pointerdown", near);
    drawing.addEventListener("pointerleave", () => show(null));
  }
}
