// What scrolls sideways can be scrolled by the keyboard, and every toggle of the side bar has a name.
window.addEventListener("load", () => {
  for (const each of document.querySelectorAll(".bd-article pre, .bd-article table")) {
    if (each.scrollWidth > each.clientWidth) each.tabIndex = 0;
  }
  for (const toggle of document.querySelectorAll("summary:has(.toctree-toggle)")) {
    toggle.setAttribute("aria-label", "show or hide the pages below");
  }
});
