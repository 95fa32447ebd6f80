'use strict';
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId('data').textContent);
  byId('data').textContent = '';
  const plot = byId('plot'), picture = plot.querySelector('svg'), detail = byId('detail');
  const make = (id) => {
    const node = document.createElement('div');
    node.id = id;
    node.hidden = true;
    plot.appendChild(node);
    return node;
  };
  const line = make('line'), dot = make('dot'), tip = make('tip');
  plot.tabIndex = 0;
  plot.setAttribute('role', 'application');
  plot.setAttribute('aria-label', 'Series of results. Left and right arrow: results. N and P: changes. Up and down arrow: series. Home and End: first and last result.');
  plot.setAttribute('aria-describedby', 'detail');
  let series = 0, point = -1;

  const scale = () => picture.getBoundingClientRect().width / data.width;
  const span = () => data.width - data.left - data.right;
  const count = () => data.series[series].value.length;
  const x = (at) => data.left + (count() < 2 ? 0.5 : at / (count() - 1)) * span();
  const y = (value) => {
    const of = data.series[series];
    const place = (value - of.low_edge) / (of.high_edge - of.low_edge);
    return of.top + (1 - Math.min(1, Math.max(0, place))) * data.height;
  };

  function words(at) {
    const of = data.series[series], lines = [];
    lines.push((of.commit[at] === null ? 'no commit' : data.commits[of.commit[at]]) + (of.dirty[at] ? ' with changed files' : ''));
    lines.push(of.time[at]);
    const samples = of.samples[at] === null ? '' : ', ' + of.samples[at] + ' samples';
    lines.push(of.text[at] + (of.interval[at] === null ? '' : ' (' + of.interval[at] + ' at 95 %)') + samples);
    const change = of.changes.find((change) => change.point === at);
    if (change) lines.push('change: ' + change.text);
    return lines;
  }

  function show(at) {
    if (count() === 0) return;
    point = Math.min(count() - 1, Math.max(0, at));
    const factor = scale(), of = data.series[series];
    const left = x(point) * factor, top = y(of.value[point]) * factor;
    line.hidden = dot.hidden = tip.hidden = false;
    line.style.left = left + 'px';
    line.style.top = of.top * factor + 'px';
    line.style.height = data.height * factor + 'px';
    dot.style.left = left + 'px';
    dot.style.top = top + 'px';
    tip.textContent = '';
    const lines = words(point);
    for (const text of lines) {
      const row = document.createElement('div');
      row.textContent = text;
      tip.appendChild(row);
    }
    const room = plot.clientWidth;
    tip.style.left = Math.max(0, Math.min(left + 14, room - tip.offsetWidth - 4)) + 'px';
    tip.style.top = Math.max(0, Math.min(top + 14, plot.clientHeight - tip.offsetHeight - 4)) + 'px';
    detail.textContent = (data.series.length > 1 ? of.title + ': ' : '') + lines.join(', ');
    plot.dataset.series = series;
    plot.dataset.point = point;
  }

  function choose(next) {
    if (next < 0 || next >= data.series.length) return;
    const share = count() < 2 || point < 0 ? 1 : point / (count() - 1);
    series = next;
    show(Math.round(share * (count() - 1)));
  }

  function change(step) {
    const places = data.series[series].changes.map((change) => change.point);
    const next = step > 0 ? places.find((place) => place > point) : places.filter((place) => place < point).pop();
    if (next !== undefined) show(next);
  }

  plot.addEventListener('pointermove', (event) => {
    const box = picture.getBoundingClientRect(), factor = scale();
    const px = (event.clientX - box.left) / factor, py = (event.clientY - box.top) / factor;
    const found = data.series.findIndex((of) => py >= of.top - 8 && py <= of.top + data.height + 8);
    if (found < 0 || px < data.left - 12 || px > data.width - data.right + 12) return;
    series = found;
    if (count() === 0) return;
    show(Math.round((px - data.left) / span() * (count() - 1)));
  });
  plot.addEventListener('pointerleave', () => {
    if (document.activeElement !== plot) line.hidden = dot.hidden = tip.hidden = true;
  });
  plot.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = count() - 1;
    const keys = {
      ArrowLeft: () => show(point < 0 ? last : point - 1),
      ArrowRight: () => show(point + 1),
      ArrowUp: () => choose(series - 1),
      ArrowDown: () => choose(series + 1),
      PageUp: () => show(point - 10),
      PageDown: () => show(point + 10),
      Home: () => show(0),
      End: () => show(last),
      n: () => change(1),
      p: () => change(-1),
      Escape: () => { line.hidden = dot.hidden = tip.hidden = true; },
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  for (const button of document.querySelectorAll('button[data-point]')) {
    button.addEventListener('click', () => {
      series = Number(button.dataset.series);
      plot.focus({ preventScroll: true });
      show(Number(button.dataset.point));
      plot.scrollIntoView({ block: 'nearest' });
    });
  }
  addEventListener('resize', () => { if (point >= 0 && !tip.hidden) show(point); });
  document.body.dataset.ready = '1';
})();
