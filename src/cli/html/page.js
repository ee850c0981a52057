"use strict";
(() => {
  const rows = [...document.querySelectorAll("ol > li")];
  let current = -1;

  const go = (index) => {
    const row = rows[index];
    if (!row) return;
    current = index;
    row.querySelector("a").focus({ preventScroll: true });
    row.scrollIntoView({ block: "center" });
  };

  addEventListener("focusin", (event) => {
    const row = event.target.closest("ol > li");
    if (row) current = rows.indexOf(row);
  });

  addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "j") go(Math.min(current + 1, rows.length - 1));
    if (event.key === "k") go(Math.max(current - 1, 0));
  });

  // A reason in the header leads to the next chunk that ends so, and from the last one back to the first.
  for (const item of document.querySelectorAll(".reasons li")) {
    item.querySelector("a").addEventListener("click", (event) => {
      const same = (row) => row.classList.contains(item.className);
      const behind = rows.findIndex((row, index) => index > current && same(row));
      event.preventDefault();
      go(behind < 0 ? rows.findIndex(same) : behind);
    });
  }

  document.documentElement.classList.add("script");
})();
