// What is wrong with this page for people who cannot see it well, or use no mouse: a list of sentences. The contrast of
// text is computed from the colours that lie behind its middle (Web Content Accessibility Guidelines 2.1).
(() => {
  const findings = new Set();
  const rgba = (text) => {
    const numbers = text.match(/[\d.]+/g);
    if (!numbers) return [0, 0, 0, 0];
    const [r, g, b, a = 1] = numbers.map(Number);
    return [r, g, b, a];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[3] * top[i] + (1 - top[3]) * below[i]).concat(1);
  const luminance = ([r, g, b]) => [r, g, b]
    .map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (a, b) => {
    const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  const ancestors = (element) => (element ? [element, ...ancestors(element.parentElement)] : []);
  const page = matchMedia('(prefers-color-scheme: dark)').matches &&
    getComputedStyle(document.documentElement).colorScheme.includes('dark') ? [18, 18, 18, 1] : [255, 255, 255, 1];
  const behind = (element, box) => {
    const hit = document.elementsFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    const stack = hit.includes(element) ? hit.slice(hit.indexOf(element)) : ancestors(element);
    // A positioned child such as the circle of a topic lies behind its brother, and above their parent.
    return stack.reverse().reduce((colour, e) => over(rgba(getComputedStyle(e).backgroundColor), colour), page);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || element.closest('script, style, math, title')) continue;
    const style = getComputedStyle(element);
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (style.visibility === 'hidden' || box.width < 2 || box.height < 2 || Number(style.opacity) < 0.1) continue;
    const ground = behind(element, box);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const ratio = contrast(over(rgba(style.color), ground), ground);
    if (ratio < (large ? 3 : 4.5)) {
      findings.add(`contrast ${ratio.toFixed(2)}: "${node.data.trim().slice(0, 40)}" ${style.color} on ` +
        `${ground.slice(0, 3).map(Math.round)}`);
    }
  }
  const headings = [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].filter((h) => h.getClientRects().length);
  const levels = headings.map((h) => Number(h.tagName[1]));
  if (levels.filter((level) => level === 1).length !== 1) findings.add('there is not one h1');
  levels.forEach((level, i) => {
    if (i && level > levels[i - 1] + 1) findings.add(`a level is left out before "${headings[i].textContent.trim()}"`);
  });
  for (const image of document.images) if (!image.hasAttribute('alt')) findings.add(`no alt: ${image.src.slice(-60)}`);
  for (const table of document.querySelectorAll('table')) {
    if (!table.querySelector('th')) findings.add(`a table without headers: "${table.textContent.trim().slice(0, 40)}"`);
  }
  for (const control of document.querySelectorAll('a[href], button, input, select')) {
    if (control.closest('[aria-hidden="true"]')) continue;
    const label = control.id && document.querySelector(`label[for="${CSS.escape(control.id)}"]`);
    const name = control.textContent.trim() || control.getAttribute('aria-label') || control.placeholder || label ||
      control.querySelector('img[alt]:not([alt=""])');
    if (!name) findings.add(`no name: ${control.outerHTML.slice(0, 80)}`);
  }
  if (!document.documentElement.lang) findings.add('the language is not given');
  if (document.documentElement.scrollWidth > innerWidth + 1) {
    findings.add(`the page is ${document.documentElement.scrollWidth} pixels wide in a window of ${innerWidth}`);
  }
  return [...findings];
})()
