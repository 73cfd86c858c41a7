// The theme puts tables into boxes that scroll, and buttons into blocks of code, while a page is shown. A box that
// scrolls is reached by the keyboard; the buttons are no landmark, as there is one for each block.
const complete = () => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", "Table, scrolls to the side");
    } else {
      for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
    }
  }
  for (const buttons of document.querySelectorAll(".md-code__nav")) buttons.setAttribute("role", "presentation");
};
new MutationObserver(complete).observe(document.body, { childList: true, subtree: true });
window.addEventListener("resize", complete);
complete();
