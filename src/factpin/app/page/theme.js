// Theme: light or dark, by the system unless the user chose.

const KEY = "factpin.theme";
const system = () => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

/** Apply the kept choice, or the system's, and follow the system while there is no choice. */
export function startTheme() {
  show(kept() ?? system());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => kept() ?? show(system()));
}

/** The other theme, kept for the next visit. */
export function switchTheme() {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  keep(next);
  show(next);
}

function show(theme) {
  document.documentElement.dataset.theme = theme;
}

function kept() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function keep(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // private windows may refuse; the choice then lasts until the page is closed
  }
}
