// What scrolls sideways can be scrolled by the keyboard; every toggle, button and link has a name, that which is seen;
// citations have no roles that screen readers do not know.
window.addEventListener("load", () => {
  for (const each of document.querySelectorAll(".bd-article pre, .bd-article table, .bd-article p:has(> img)")) {
    if (each.scrollWidth > each.clientWidth) each.tabIndex = 0;
  }
  for (const toggle of document.querySelectorAll("summary:has(.toctree-toggle)")) {
    toggle.setAttribute("aria-label", "show or hide the pages below");
  }
  for (const named of document.querySelectorAll(".search-button__button, .sphx-glr-thumbcontainer a.internal")) {
    const text = named.textContent.replace(/\s+/g, " ").trim();
    if (text) named.setAttribute("aria-label", text);
  }
  for (const cited of document.querySelectorAll(".citation-list, .citation")) cited.removeAttribute("role");
});

// A section that moved to a page of its own left its anchor, beside a link: an old address leads on.
document.addEventListener("DOMContentLoaded", () => {
  const left = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (left?.classList.contains("moved")) location.replace(left.nextElementSibling.href);
});
