// The search, the choice of colours, and the menu of a narrow screen. ENTRIES comes from search.js: [text, page, address].
const root = document.documentElement.dataset.root;
const input = document.getElementById("search");
const results = document.getElementById("results");
const pages = document.getElementById("pages");
const menu = document.getElementById("menu");
const MOST = 12;

/** A name that begins with the words comes first, then pages before their parts, then short names. */
function found(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const rank = ([text, page]) => (text.toLowerCase().startsWith(words[0]) ? 0 : 1000) + (page === "" ? 0 : 100) + text.length;
  const matching = ENTRIES.filter(([text, page]) => words.every((word) => `${text} ${page}`.toLowerCase().includes(word)));
  return matching.sort((one, other) => rank(one) - rank(other)).slice(0, MOST);
}

function show() {
  const items = found(input.value).map(([text, page, address]) => {
    const link = Object.assign(document.createElement("a"), { href: `${root}/${address}`, textContent: `${text} ` });
    link.append(Object.assign(document.createElement("small"), { textContent: page }));
    const item = document.createElement("li");
    item.append(link);
    return item;
  });
  results.replaceChildren(...items);
  results.hidden = items.length === 0;
  choose(0);
}

function choose(at) {
  for (const [index, link] of [...results.querySelectorAll("a")].entries()) link.classList.toggle("chosen", index === at);
}

input.addEventListener("input", show);
input.addEventListener("keydown", (event) => {
  const links = [...results.querySelectorAll("a")];
  const at = links.findIndex((link) => link.classList.contains("chosen"));
  if (event.key === "ArrowDown") choose(Math.min(at + 1, links.length - 1));
  else if (event.key === "ArrowUp") choose(Math.max(at - 1, 0));
  else if (event.key === "Enter") links[at]?.click();
  else if (event.key === "Escape") results.hidden = true;
  else return;
  event.preventDefault();
});
results.addEventListener("click", () => {
  results.hidden = true;
});
document.addEventListener("click", ({ target }) => {
  if (!results.contains(target) && target !== input) results.hidden = true;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || /^(?:INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
  event.preventDefault();
  input.focus();
});

menu.addEventListener("click", () => {
  const isOpen = pages.classList.toggle("open");
  menu.setAttribute("aria-expanded", String(isOpen));
});

const colours = localStorage.getItem("colours");
if (colours !== null) document.documentElement.style.colorScheme = colours;
document.getElementById("colours").addEventListener("click", () => {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.style.colorScheme || (isDark ? "dark" : "light");
  const next = now === "dark" ? "light" : "dark";
  document.documentElement.style.colorScheme = next;
  localStorage.setItem("colours", next);
});
