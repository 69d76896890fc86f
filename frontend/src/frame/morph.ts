// Changes a document into another one, and keeps what is equal: nothing flickers, and the scroll position stays.

/** Make `shown` equal to `wanted`. Nodes of `wanted` are moved. */
export function morph(shown: Element, wanted: Element): void {
  morphAttributes(shown, wanted);
  let old = shown.firstChild;
  for (const next of [...wanted.childNodes]) {
    const now = old;
    if (now === null) {
      shown.append(next);
    } else if (isAlike(now, next)) {
      old = now.nextSibling;
      if (now instanceof Element) morph(now, next as Element);
      else if (now.nodeValue !== next.nodeValue) now.nodeValue = next.nodeValue;
    } else {
      old = now.nextSibling;
      now.replaceWith(next);
    }
  }
  while (old !== null) {
    const next = old.nextSibling;
    old.remove();
    old = next;
  }
}

const isAlike = (one: Node, other: Node): boolean => one.nodeType === other.nodeType && one.nodeName === other.nodeName;

function morphAttributes(shown: Element, wanted: Element): void {
  for (const { name } of [...shown.attributes]) if (!wanted.hasAttribute(name)) shown.removeAttribute(name);
  for (const { name, value } of wanted.attributes)
    if (shown.getAttribute(name) !== value) shown.setAttribute(name, value);
}
