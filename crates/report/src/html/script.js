'use strict';
// Optional functions of the page: tips, series that can be switched off, buttons that copy a command or save a
// document. The page is complete without them.
(() => {
  const all = (selector, inside = document) => inside.querySelectorAll(selector);

  // A tip, by mouse, finger or keyboard. Arrow keys move between the marks of the focused chart.
  const tip = document.createElement('div');
  tip.id = 'tip';
  tip.setAttribute('role', 'status');
  tip.hidden = true;
  document.body.append(tip);
  // The mark that the keyboard selected: its tip stays while the page scrolls.
  let kept = null;
  const hide = () => { tip.hidden = true; kept = null; };
  const show = (at) => {
    tip.textContent = at.dataset.tip;
    tip.hidden = false;
    const mark = at.getBoundingClientRect();
    const left = mark.left + mark.width / 2 - tip.offsetWidth / 2;
    const above = mark.top - tip.offsetHeight - 8;
    tip.style.left = Math.max(8, Math.min(left, document.documentElement.clientWidth - tip.offsetWidth - 8)) + 'px';
    tip.style.top = (above < 8 ? mark.bottom + 8 : above) + 'px';
  };
  const reached = (event) => {
    const at = event.target instanceof Element && event.target.closest('.tip[data-tip]');
    if (event.type !== 'focusin') hide();
    if (at) show(at);
  };
  for (const event of ['pointerover', 'click', 'focusin']) document.addEventListener(event, reached);
  document.addEventListener('focusout', hide);
  document.addEventListener('scroll', () => { if (kept) show(kept); else hide(); }, true);
  for (const chart of all('.plot')) {
    let place = -1;
    chart.tabIndex = 0;
    chart.setAttribute('role', 'group');
    chart.setAttribute('aria-label', chart.closest('figure').querySelector('figcaption').textContent);
    // A browser would show the title of the whole chart over the tips of its marks.
    for (const title of all('svg > title', chart)) {
      title.parentNode.setAttribute('aria-label', title.textContent);
      title.remove();
    }
    chart.addEventListener('keydown', (event) => {
      const marks = [...all('.tip[data-tip]', chart)].filter((mark) => !mark.closest('.off'));
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === 'Escape') hide();
      if (!step || !marks.length) return;
      event.preventDefault();
      place = (place + step + marks.length) % marks.length;
      kept = marks[place];
      kept.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      show(kept);
    });
  }

  const button = (text, act) => {
    const made = document.createElement('button');
    made.type = 'button';
    made.textContent = text;
    made.addEventListener('click', () => act(made));
    return made;
  };

  // Names of series become buttons that hide them.
  for (const name of all('.legend [data-series]')) {
    const series = name.dataset.series;
    const made = button('', () => {
      const on = made.getAttribute('aria-pressed') === 'false';
      made.setAttribute('aria-pressed', String(on));
      for (const part of all('.series', name.closest('figure'))) {
        if (part.dataset.series === series) part.classList.toggle('off', !on);
      }
    });
    made.setAttribute('aria-pressed', 'true');
    made.append(...name.childNodes);
    name.append(made);
  }

  // Copies a command, or selects it if copying is not allowed.
  for (const box of all('.command')) {
    const code = box.querySelector('code');
    box.append(button('Copy', (made) => {
      const select = () => getSelection().selectAllChildren(code);
      const done = () => {
        made.textContent = 'Copied';
        setTimeout(() => { made.textContent = 'Copy'; }, 1500);
      };
      if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(done, select); else select();
    }));
  }

  // Saves the document as a file.
  for (const line of all('.document[data-for]')) {
    line.append(' ', button('Save it', () => {
      const text = document.getElementById(line.dataset.for).textContent;
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
      link.download = line.dataset.name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    }));
  }

  addEventListener('beforeprint', () => { for (const part of all('details')) part.open = true; });
})();
