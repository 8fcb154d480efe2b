// Live progress. Without scripts pages load themselves again while something runs; nothing else needs this file.
for (const box of document.querySelectorAll("[data-events]")) {
  const source = new EventSource(box.dataset.events);
  source.onmessage = (event) => { box.querySelector("[data-said]").textContent = event.data; };
  source.addEventListener("end", () => { source.close(); location.reload(); });
}
