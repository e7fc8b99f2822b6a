// Times in the reader's zone, or in UTC as they are without this. Every time is an element with `data-at`, ms since 1970,
// and `data-as`: the whole of it, its date and minute, or its time of day.
"use strict";
const parts = { full: [0, 19], minute: [5, 16], time: [11, 19] };

function show(timeZone) {
  // Of all languages Swedish writes 2026-11-28 14:05:00.
  const format = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium", timeZone });
  for (const it of document.querySelectorAll("[data-at]")) {
    it.textContent = format.format(Number(it.dataset.at)).slice(...parts[it.dataset.as]);
  }
  for (const it of document.querySelectorAll(".zone")) it.textContent = timeZone;
}

const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
const zone = document.getElementById("zone");
if (own && own !== "UTC") {
  const choice = document.createElement("select");
  choice.setAttribute("aria-label", "Zone of times");
  for (const name of ["UTC", own]) choice.add(new Option(name));
  choice.addEventListener("change", () => show(choice.value));
  zone.replaceChildren(choice);
}
