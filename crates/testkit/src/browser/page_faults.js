// Finds the faults of a page, and returns a sentence for each. Runs in the page itself, and leaves it unchanged.
'use strict';

// Tolerance in pixels: measured positions are rounded, so texts that only touch may seem to overlap.
const TOLERANCE = 1;

// The minimum contrast of a text with its background: WCAG 2.2, success criterion 1.4.3, for letters of any size.
const CONTRAST = 4.5;

const style = element => getComputedStyle(element);
const round = value => Math.round(value * 10) / 10;
const short = text => {
    const plain = text.replace(/\s+/g, ' ').trim();
    return `"${plain.length > 40 ? plain.slice(0, 39) + '…' : plain}"`;
};

// Yields an element and its ancestors, the innermost first.
function* around(element) {
    for (let each = element; each; each = each.parentElement) yield each;
}

// Caches the results of a function that is called many times for the same element while the page does not change.
function once(find) {
    const known = new Map();
    return element => {
        if (!known.has(element)) known.set(element, find(element));
        return known.get(element);
    };
}

// Returns whether an element is only for screen readers, or appears only with keyboard focus: its style clips it to
// nothing, or places it completely outside of the page.
const isForListeners = once(element => {
    const { clip, clipPath, overflow, position } = style(element);
    if (position === 'absolute' || position === 'fixed') {
        const box = element.getBoundingClientRect();
        const isCut = /^rect\((0px|1px)/.test(clip) || /^inset\((50|100)%/.test(clipPath);
        const isTiny = overflow !== 'visible' && box.width <= 2 && box.height <= 2;
        if (isCut || isTiny || box.right <= 0 || box.bottom + scrollY <= 0) return true;
    }
    return element.parentElement !== null && isForListeners(element.parentElement);
});

// Returns whether an element would be visible if it were in the window: not in closed details, not hidden, not
// transparent.
const isSeen = once(element => {
    const options = { opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: false };
    return element.checkVisibility(options) && !isForListeners(element);
});

// Returns the empty space above and below the letters of a text, within the full height of its font. Lines may be
// closer together than the boxes of their fonts.
const paper = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
const fontOf = once(element => {
    const { fontStyle, fontWeight, fontSize, fontFamily } = style(element);
    return `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
});
const inks = new Map();
let loaded;
function ink(element, text) {
    const font = fontOf(element);
    const key = font + text;
    if (!inks.has(key)) {
        if (font !== loaded) paper.font = loaded = font;
        const of = paper.measureText(text);
        inks.set(key, {
            above: Math.max(0, of.fontBoundingBoxAscent - of.actualBoundingBoxAscent),
            below: Math.max(0, of.fontBoundingBoxDescent - of.actualBoundingBoxDescent),
        });
    }
    return inks.get(key);
}

// Returns the factor by which a text in an SVG is drawn larger than its font size; undefined if the text is rotated.
function scaleOf(element) {
    const matrix = element.getScreenCTM?.();
    if (!matrix) return 1;
    return Math.abs(matrix.b) + Math.abs(matrix.c) > 0.01 ? undefined : matrix.d;
}

// Returns the boxes of a text, one per line. If its style preserves blanks, returns one per word, because blanks may
// extend beyond the end of a line.
const keepsBlanks = once(element => style(element).whiteSpaceCollapse !== 'collapse');
function rectangles(node) {
    const range = document.createRange();
    range.selectNodeContents(node);
    if (!keepsBlanks(node.parentElement)) return [...range.getClientRects()];
    return [...node.data.matchAll(/\S+/g)].flatMap(({ 0: word, index }) => {
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        return [...range.getClientRects()];
    });
}

// Finds all visible texts. Each has a box around its letters for each of its lines.
let found;
const seen = () => (found ??= search());
function search() {
    const texts = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const node = walker.currentNode;
        const element = node.parentElement;
        if (!node.data.trim() || /^(script|style|template|title|desc|noscript)$/i.test(element.tagName)) continue;
        if (!isSeen(element)) continue;
        const scale = scaleOf(element);
        const { above, below } = ink(element, node.data);
        const boxes = rectangles(node).filter(box => box.width > 0 && box.height > 0).map(box => ({
            left: box.left,
            right: box.right,
            top: box.top + (scale === undefined ? 0 : above * scale),
            bottom: box.bottom - (scale === undefined ? 0 : below * scale),
        }));
        if (boxes.length) texts.push({ node, element, boxes, text: node.data });
    }
    return texts;
}

// Returns the box to which an element clips its content; undefined if it does not clip. Of the elements of a drawing,
// only an svg element can clip. Inline elements cannot.
const edgeOf = once(element => {
    const { overflowX, overflowY, display } = style(element);
    const isDrawn = element instanceof SVGElement;
    if (isDrawn ? !(element instanceof SVGSVGElement) : display === 'inline' || display === 'contents') return undefined;
    if (overflowX === 'visible' && overflowY === 'visible') return undefined;
    return { overflowX, overflowY, box: element.getBoundingClientRect() };
});

// Returns the part of a box that the ancestors of its element leave visible; undefined if it is scrolled away. Adds a
// fault if the text is cut off.
function within(box, text, element, faults) {
    const left = { ...box };
    for (const each of around(element)) {
        if (each === document.body || each === document.documentElement) break;
        const edge = edgeOf(each);
        if (!edge) continue;
        for (const [overflow, from, to] of [[edge.overflowX, 'left', 'right'], [edge.overflowY, 'top', 'bottom']]) {
            if (overflow === 'visible') continue;
            const beyond = Math.max(edge.box[from] - left[from], left[to] - edge.box[to]);
            if (beyond > TOLERANCE && overflow !== 'auto' && overflow !== 'scroll') {
                faults.add(`${short(text)} is cut off: ${round(beyond)} px of it are out of <${each.tagName}>`);
            }
            left[from] = Math.max(left[from], edge.box[from]);
            left[to] = Math.min(left[to], edge.box[to]);
        }
        if (left.right - left.left <= 0 || left.bottom - left.top <= 0) return undefined;
    }
    return left;
}

function layout() {
    const faults = new Set();
    const width = innerWidth;
    const wide = document.documentElement.scrollWidth;
    if (wide > width) faults.add(`the page is ${wide} px wide in a window of ${width} px`);
    const boxes = [];
    for (const { node, element, boxes: own, text } of seen()) {
        for (const whole of own) {
            const box = within(whole, text, element, faults);
            if (!box) continue;
            const beyond = Math.max(-box.left, box.right - width, -(box.top + scrollY));
            if (beyond > TOLERANCE) faults.add(`${short(text)} is ${round(beyond)} px out of the page`);
            boxes.push({ ...box, node, text });
        }
    }
    boxes.sort((one, other) => one.top - other.top);
    let open = [];
    for (const box of boxes) {
        open = open.filter(other => other.bottom - box.top > TOLERANCE);
        for (const other of open) {
            const across = Math.min(box.right, other.right) - Math.max(box.left, other.left);
            const down = Math.min(box.bottom, other.bottom) - box.top;
            if (other.node !== box.node && across > TOLERANCE && down > TOLERANCE) {
                const [left, top] = [box.left, box.top + scrollY].map(Math.round);
                const size = `${round(across)} x ${round(down)} px`;
                faults.add(`${short(other.text)} and ${short(box.text)} overlap by ${size} at ${left}, ${top}`);
            }
        }
        open.push(box);
    }
    return [...faults];
}

// Returns the faults of both searches, which share one search for texts.
const sight = () => [...layout(), ...contrast()];

// Converts a CSS colour, in any notation, to red, green, blue and opacity from 0 to 1.
const colours = new Map();
function colour(words) {
    if (!colours.has(words)) {
        paper.canvas.width = paper.canvas.height = 1;
        paper.fillStyle = words;
        paper.fillRect(0, 0, 1, 1);
        colours.set(words, [...paper.getImageData(0, 0, 1, 1).data].map(part => part / 255));
    }
    return colours.get(words);
}

function over([red, green, blue, opacity], below) {
    return [red, green, blue].map((part, index) => part * opacity + below[index] * (1 - opacity));
}

// Relative luminance, as WCAG defines it.
function luminance(parts) {
    const [red, green, blue] = parts.map(part => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const opacityOf = once(element => {
    return Number(style(element).opacity) * (element.parentElement ? opacityOf(element.parentElement) : 1);
});

// Yields the elements behind a text, the nearest first. In HTML, these are its element and the ancestors. In a drawing,
// they are the elements painted at this point.
function* behind(element, at) {
    if (!(element instanceof SVGElement)) {
        yield* around(element);
        return;
    }
    for (const each of document.elementsFromPoint(at.x, at.y)) {
        if (!(each instanceof SVGTextContentElement)) yield each;
    }
}

// Returns whether a point is in the filled area of a shape. A line has no such area, although it has a fill colour.
function isFilledAt(shape, at) {
    return shape.isPointInFill(new DOMPoint(at.x, at.y).matrixTransform(shape.getScreenCTM().inverse()));
}

// Returns the layers of paint behind a text, the nearest first, down to the first opaque one; undefined if one of them
// is not a plain colour.
function layers(element, at) {
    const found = [];
    for (const each of behind(element, at)) {
        const of = style(each);
        const isShape = each instanceof SVGGeometryElement;
        if (isShape && (of.fill === 'none' || !isFilledAt(each, at))) continue;
        if ((isShape && of.fill.startsWith('url(')) || (!isShape && of.backgroundImage !== 'none')) return undefined;
        const [red, green, blue, opacity] = colour(isShape ? of.fill : of.backgroundColor);
        const paint = [red, green, blue, opacity * (isShape ? opacityOf(each) * of.fillOpacity : 1)];
        if (paint[3] > 0) found.push(paint);
        if (paint[3] > 0.999) return found;
    }
    // The window itself is white, or nearly black if the page supports a dark mode and the user prefers it.
    return [...found, colour(style(document.documentElement).colorScheme.includes('dark') && darkness() ? '#121212' : '#fff')];
}

const darkness = () => matchMedia('(prefers-color-scheme: dark)').matches;

function contrast() {
    const faults = new Set();
    // Makes elementsFromPoint return elements that ignore the pointer too, because they are painted like others.
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('svg, svg * { pointer-events: visiblePainted !important }');
    document.adoptedStyleSheets.push(sheet);
    const [x, y] = [scrollX, scrollY];
    for (const [element, text] of new Map(seen().map(({ element, text }) => [element, text]))) {
        const isDrawn = element instanceof SVGElement;
        let box = element.getBoundingClientRect();
        if (isDrawn && (box.top < 0 || box.bottom > innerHeight)) {
            scrollTo({ top: scrollY + box.top - innerHeight / 2, behavior: 'instant' });
            box = element.getBoundingClientRect();
        }
        const at = { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 };
        if (isDrawn && !element.ownerSVGElement.contains(document.elementFromPoint(at.x, at.y))) {
            // The text is scrolled away sideways, in a box of its own.
            continue;
        }
        const paints = layers(element, at);
        const of = style(element);
        const words = isDrawn ? of.fill : of.color;
        if (!paints || words.startsWith('url(')) continue;
        const ground = paints.reduceRight((below, paint) => over(paint, below), [1, 1, 1]);
        const [red, green, blue, opacity] = colour(words);
        const front = over([red, green, blue, opacity * opacityOf(element) * (isDrawn ? of.fillOpacity : 1)], ground);
        const [bright, dim] = [luminance(front), luminance(ground)].sort((one, other) => other - one);
        const ratio = (bright + 0.05) / (dim + 0.05);
        if (ratio < CONTRAST) {
            const hex = parts => '#' + parts.map(part => Math.round(part * 255).toString(16).padStart(2, '0')).join('');
            faults.add(`${short(text)} has a contrast of ${ratio.toFixed(2)}: ${hex(front)} on ${hex(ground)}`);
        }
    }
    scrollTo({ left: x, top: y, behavior: 'instant' });
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter(each => each !== sheet);
    return [...faults];
}

// Returns the name by which a screen reader announces an element.
function nameOf(element) {
    const referred = (element.getAttribute('aria-labelledby') ?? '').split(/\s+/).filter(Boolean);
    const words = referred.map(id => document.getElementById(id)?.textContent ?? '').join(' ').trim();
    const title = [...element.children].find(child => child.tagName.toLowerCase() === 'title');
    return words || element.getAttribute('aria-label')?.trim() || title?.textContent.trim() || '';
}

function structure() {
    const faults = [];
    const all = selector => [...document.querySelectorAll(selector)];
    const about = element => short(element.outerHTML.slice(0, 60));
    if (!document.documentElement.lang) faults.push('the page does not say its language');
    if (!document.title.trim()) faults.push('the page has no title');
    if (!document.querySelector('meta[name=viewport]')) faults.push('the page does not say that it fits a phone');
    const mains = all('main, [role=main]').length;
    if (mains !== 1) faults.push(`the page has ${mains} main parts`);

    for (const picture of all('svg')) {
        if (picture.parentElement.closest('svg') || picture.closest('[aria-hidden=true]')) continue;
        if (picture.getAttribute('role') !== 'img') faults.push(`no picture by its role: ${about(picture)}`);
        if (!nameOf(picture)) faults.push(`a picture without a name: ${about(picture)}`);
    }
    for (const picture of all('img')) {
        if (!picture.hasAttribute('alt')) faults.push(`a picture without words: ${about(picture)}`);
    }
    for (const table of all('table')) {
        const heads = [...table.querySelectorAll('th')];
        if (!heads.length) faults.push(`a table without headers: ${about(table)}`);
        for (const head of heads.filter(head => !head.hasAttribute('scope'))) {
            faults.push(`a header that does not say of what: ${about(head)} in ${about(table)}`);
        }
        const isNamed = table.caption?.textContent.trim() || table.closest('[aria-label], [aria-labelledby]');
        if (!isNamed) faults.push(`a table without a name: ${about(table)}`);
    }
    let level = 0;
    for (const heading of all('h1, h2, h3, h4, h5, h6')) {
        const own = Number(heading.tagName[1]);
        if (own > level + 1) faults.push(`a heading of level ${own} after one of ${level}: ${short(heading.textContent)}`);
        if (!heading.textContent.trim()) faults.push(`a heading without words: ${about(heading)}`);
        level = own;
    }
    if (all('h1').length !== 1) faults.push(`the page has ${all('h1').length} headings of level 1`);
    for (const control of all('button, a[href], summary, [role=button]')) {
        if (!control.textContent.trim() && !nameOf(control)) faults.push(`a control without a name: ${about(control)}`);
    }
    for (const focused of all('[tabindex]').filter(each => each.tabIndex > 0)) {
        faults.push(`the keyboard comes here out of order: ${about(focused)}`);
    }
    for (const stop of all('svg [tabindex="0"]')) {
        if (!nameOf(stop)) faults.push(`the keyboard stops here, and nothing is said: ${about(stop)}`);
    }
    const ids = new Set();
    for (const { id } of all('[id]')) {
        if (ids.has(id)) faults.push(`two elements have the id ${id}`);
        ids.add(id);
    }
    for (const attribute of ['aria-labelledby', 'aria-describedby', 'aria-controls', 'for']) {
        for (const element of all(`[${attribute}]`)) {
            for (const id of element.getAttribute(attribute).split(/\s+/).filter(Boolean)) {
                if (!ids.has(id)) faults.push(`${attribute} names ${id}, which is nowhere: ${about(element)}`);
            }
        }
    }
    for (const link of all('a[href^="#"]')) {
        const id = decodeURIComponent(link.getAttribute('href').slice(1));
        if (id && !ids.has(id)) faults.push(`a link to ${id}, which is nowhere`);
    }
    return faults;
}

// All visible texts.
const words = () => seen().map(({ text }) => text.replace(/\s+/g, ' ').trim());
