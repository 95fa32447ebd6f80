'use strict';
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId('data').textContent);
  byId('data').textContent = '';
  byId('interactive').hidden = false;
  const canvas = byId('lanes'), plot = byId('plot'), tip = byId('tip'), detail = byId('detail'), status = byId('status');
  const search = byId('search'), pen = canvas.getContext('2d');
  const LANE = 24, BAR = 18, AXIS = 22, LABEL = 190;
  const LEAST_NS = 50;
  // More events of a lane in view are drawn from its pyramid.
  const MOST_EXACT = 3000;
  const anchors = [], colours = [], labels = [];

  function bytes(text) {
    const raw = atob(text), out = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
    return out;
  }

  // Events of a lane: starts and lengths in ns, names, shades; and how far the events up to each one reach.
  function unpack(lane) {
    const raw = bytes(lane.events), n = lane.count;
    lane.start = new Float64Array(n);
    lane.length = new Float64Array(n);
    lane.name = new Uint32Array(n);
    lane.shade = new Uint8Array(n);
    lane.reach = new Float64Array(n);
    let at = 0, last = 0, reach = 0;
    const number = () => {
      let value = 0, factor = 1;
      for (;;) {
        const byte = raw[at++];
        value += (byte & 127) * factor;
        if (byte < 128) return value;
        factor *= 128;
      }
    };
    for (let i = 0; i < n; i++) {
      last += number();
      lane.start[i] = last;
      lane.length[i] = number();
      const packed = number();
      lane.shade[i] = packed % 16;
      lane.name[i] = Math.floor(packed / 16) + lane.first_name;
      reach = Math.max(reach, last + lane.length[i]);
      lane.reach[i] = reach;
    }
    const bins = bytes(lane.pyramid);
    let from = 0;
    lane.bins = lane.levels.map((count) => {
      const part = bins.subarray(from, from + 2 * count);
      from += 2 * count;
      return part;
    });
    lane.events = lane.pyramid = '';
  }
  data.lanes.forEach(unpack);

  const whole = data.length_ns;
  const view = { from: 0, to: whole };
  let chosen = null, current = 0, matches = null, matched = [], at = -1, width = 0, height = 0, wanted = false;

  function theme() {
    const style = getComputedStyle(document.documentElement);
    for (const shade of data.shades) {
      anchors[shade.id] = shade.anchor;
      labels[shade.id] = shade.label;
      colours[shade.id] = style.getPropertyValue('--' + shade.class).trim();
    }
    theme.fg = style.getPropertyValue('--fg').trim();
    theme.dim = style.getPropertyValue('--dim').trim();
    theme.line = style.getPropertyValue('--line').trim();
    theme.soft = style.getPropertyValue('--soft').trim();
    theme.bg = style.getPropertyValue('--bg').trim();
    theme.mark = style.getPropertyValue('--mark').trim();
  }

  function time(ns) {
    for (const [factor, unit] of [[1e9, 's'], [1e6, 'ms'], [1e3, 'us']]) {
      if (Math.abs(ns) >= factor) return Number((ns / factor).toPrecision(4)) + ' ' + unit;
    }
    return Number(ns.toPrecision(4)) + ' ns';
  }

  // The first place from which on a sorted list is not below a value.
  function lower(list, value) {
    let low = 0, high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (list[middle] < value) low = middle + 1; else high = middle;
    }
    return low;
  }

  const span = () => view.to - view.from;
  const left = () => Math.min(LABEL, width * 0.3);
  const x = (ns) => left() + (ns - view.from) / span() * (width - left());
  const ns = (px) => view.from + (px - left()) / (width - left()) * span();

  function show(from, to) {
    let length = Math.min(whole, Math.max(LEAST_NS, to - from));
    const middle = (from + to) / 2;
    view.from = Math.max(0, Math.min(whole - length, middle - length / 2));
    view.to = view.from + length;
    draw();
  }
  const zoom = (factor, around) => {
    const length = Math.min(whole, Math.max(LEAST_NS, span() * factor));
    const share = (around - view.from) / span();
    const from = Math.max(0, Math.min(whole - length, around - share * length));
    view.from = from;
    view.to = from + length;
    draw();
  };
  const move = (share) => show(view.from + share * span(), view.to + share * span());

  function draw() {
    if (wanted) return;
    wanted = true;
    requestAnimationFrame(paint);
  }

  function size() {
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    width = plot.clientWidth;
    height = AXIS + data.lanes.length * LANE;
    canvas.style.height = height + 'px';
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw();
  }

  function bar(shade, px, wide, share, y) {
    const high = Math.max(2, share * BAR), anchor = anchors[shade];
    pen.fillRect(px, anchor === 1 ? y : anchor === 2 ? y + (BAR - high) / 2 : y + BAR - high, wide, high);
  }

  function paint() {
    wanted = false;
    const begun = performance.now();
    let drawn = 0, exact = 0;
    pen.fillStyle = theme.bg;
    pen.fillRect(0, 0, width, height);
    pen.font = '11px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    axis();
    const top = plot.scrollTop - LANE, bottom = plot.scrollTop + plot.clientHeight + LANE;
    data.lanes.forEach((lane, place) => {
      const y = AXIS + place * LANE;
      if (y < top || y > bottom) return;
      pen.fillStyle = theme.soft;
      pen.fillRect(left(), y, width - left(), BAR);
      const first = lower(lane.reach, view.from), last = lower(lane.start, view.to);
      pen.globalAlpha = matches ? 0.25 : 1;
      if (last - first <= MOST_EXACT || lane.bins.length === 0) {
        drawn += events(lane, first, last, y);
        exact += 1;
      } else {
        drawn += columns(lane, y);
      }
      pen.globalAlpha = 1;
      if (matches) drawn += marks(lane, first, last, y);
      pen.fillStyle = theme.bg;
      pen.fillRect(0, y, left() - 4, BAR);
      pen.fillStyle = place === current ? theme.mark : theme.dim;
      pen.textAlign = 'right';
      pen.fillText((place === current ? '▸ ' : '') + lane.label, left() - 8, y + BAR / 2, left() - 12);
      if (chosen && chosen.lane === place) outline(lane, y);
    });
    Object.assign(canvas.dataset, {
      from: view.from, to: view.to, drawn, exact, frame: performance.now() - begun, lane: current,
      event: chosen ? chosen.place : '', matches: matches ? matched.length : '',
    });
  }

  function axis() {
    const least = span() / Math.max(2, (width - left()) / 110);
    const power = Math.pow(10, Math.floor(Math.log10(least)));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((value) => value >= least);
    pen.textAlign = 'center';
    for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) {
      pen.fillStyle = theme.line;
      pen.fillRect(x(at), AXIS - 4, 1, height);
      pen.fillStyle = theme.dim;
      pen.fillText(at === 0 ? '0' : label(at, step), x(at), 9);
    }
  }

  // As many digits as tell neighbours apart.
  function label(at, step) {
    const [factor, unit] = at >= 1e9 ? [1e9, 's'] : at >= 1e6 ? [1e6, 'ms'] : at >= 1e3 ? [1e3, 'us'] : [1, 'ns'];
    return (at / factor).toFixed(Math.max(0, Math.min(9, Math.ceil(Math.log10(factor / step) - 1e-9)))) + ' ' + unit;
  }

  function events(lane, first, last, y) {
    let drawn = 0;
    for (let i = first; i < last; i++) {
      const from = Math.max(x(lane.start[i]), left());
      const to = Math.min(x(lane.start[i] + lane.length[i]), width);
      if (to < left()) continue;
      pen.fillStyle = colours[lane.shade[i]];
      const wide = Math.max(1, to - from);
      bar(lane.shade[i], from, wide, 1, y);
      drawn += 1;
      if (wide > 40 && !matches) {
        pen.fillStyle = theme.bg;
        pen.textAlign = 'left';
        pen.save();
        pen.beginPath();
        pen.rect(from, y, wide - 3, BAR);
        pen.clip();
        pen.fillText(data.names[lane.name[i]], from + 3, y + BAR / 2);
        pen.restore();
      }
    }
    return drawn;
  }

  // A column for each bin of the level whose bins are about a pixel wide.
  function columns(lane, y) {
    const pixel = span() / (width - left());
    let level = 0;
    while (level + 1 < lane.bins.length && lane.length_ns / (lane.bins[level + 1].length / 2) <= pixel) level += 1;
    const bins = lane.bins[level], count = bins.length / 2, step = lane.length_ns / count;
    const first = Math.max(0, Math.floor(view.from / step)), last = Math.min(count, Math.ceil(view.to / step));
    const wide = Math.max(1, step / pixel);
    let drawn = 0;
    for (let i = first; i < last; i++) {
      const shade = bins[2 * i];
      if (!shade) continue;
      const from = Math.max(x(i * step), left());
      pen.fillStyle = colours[shade];
      bar(shade, from, Math.min(wide, width - from), bins[2 * i + 1] / 255, y);
      drawn += 1;
    }
    return drawn;
  }

  // Matches of the search: one mark for each column that has some.
  function marks(lane, first, last, y) {
    const list = lane.matched;
    let i = lower(list, first), drawn = 0;
    while (i < list.length && list[i] < last) {
      const event = list[i], from = Math.max(x(lane.start[event]), left());
      const to = Math.max(from + 1, Math.min(x(lane.start[event] + lane.length[event]), width));
      pen.fillStyle = colours[lane.shade[event]];
      pen.fillRect(from, y, to - from, BAR);
      drawn += 1;
      // What starts in the same pixel is not seen beside it.
      const behind = lower(lane.start, ns(to));
      i = Math.max(i + 1, lower(list, behind));
    }
    return drawn;
  }

  function outline(lane, y) {
    const from = Math.max(left(), x(lane.start[chosen.place])), to = Math.min(width, x(lane.start[chosen.place] + lane.length[chosen.place]));
    if (to < left() || from > width) return;
    pen.strokeStyle = theme.fg;
    pen.lineWidth = 2;
    pen.strokeRect(from - 1, y - 1, Math.max(4, to - from + 2), BAR + 2);
  }

  // The event at a place of the screen: the last one that starts before it and reaches it.
  function find(px, py) {
    const place = Math.floor((py - AXIS) / LANE), lane = data.lanes[place];
    if (!lane || px < left()) return null;
    const slack = span() / (width - left()) * 2, moment = ns(px);
    const last = lower(lane.start, moment + slack);
    for (let i = last - 1; i >= 0 && i > last - 200 && lane.reach[i] >= moment - slack; i--) {
      if (lane.start[i] + lane.length[i] >= moment - slack) return { lane: place, place: i };
    }
    return null;
  }

  function describe(found) {
    const lane = data.lanes[found.lane], i = found.place;
    return [data.names[lane.name[i]], labels[lane.shade[i]] + ', ' + time(lane.length[i]) + ' from ' + time(lane.start[i]) + ' on, ' + lane.label];
  }

  function fill(node, lines) {
    node.textContent = '';
    lines.forEach((line, place) => {
      const part = document.createElement(place === 0 ? 'strong' : 'div');
      part.textContent = line;
      node.append(part);
    });
  }

  function choose(found) {
    chosen = found;
    if (found) {
      current = found.lane;
      fill(detail, describe(found));
      const y = AXIS + found.lane * LANE;
      if (y < plot.scrollTop || y + LANE > plot.scrollTop + plot.clientHeight) plot.scrollTop = y - AXIS;
    } else {
      detail.textContent = '';
    }
    draw();
  }

  // Brings an event into view without changing the step of time more than it takes.
  function reveal(found) {
    choose(found);
    const lane = data.lanes[found.lane], from = lane.start[found.place], length = lane.length[found.place];
    if (from < view.from || from + length > view.to) {
      const middle = from + length / 2, half = Math.max(span(), length * 1.2) / 2;
      show(middle - half, middle + half);
    }
  }

  function zoomTo(found) {
    const lane = data.lanes[found.lane], from = lane.start[found.place], length = Math.max(20, lane.length[found.place]);
    choose(found);
    show(from - length * 0.5, from + length * 1.5);
  }

  function step(by) {
    if (matches) {
      if (matched.length === 0) return;
      at = (at + by + matched.length) % matched.length;
      reveal(matched[at]);
      status.textContent = 'match ' + (at + 1) + ' of ' + matched.length;
      return;
    }
    const lane = data.lanes[current];
    if (!lane) return;
    const inLane = chosen && chosen.lane === current;
    const place = inLane ? chosen.place + by : lower(lane.start, view.from);
    if (place >= 0 && place < lane.count) reveal({ lane: current, place });
  }

  function find_all(text) {
    const wantedText = text.trim().toLowerCase();
    matched = [];
    at = -1;
    if (!wantedText) {
      matches = null;
      status.textContent = '';
      draw();
      return;
    }
    matches = new Uint8Array(data.names.length);
    data.names.forEach((name, place) => { matches[place] = name.toLowerCase().includes(wantedText) ? 1 : 0; });
    let sum = 0;
    data.lanes.forEach((lane, place) => {
      const list = [];
      for (let i = 0; i < lane.count; i++) {
        if (matches[lane.name[i]]) {
          list.push(i);
          sum += lane.length[i];
        }
      }
      lane.matched = Uint32Array.from(list);
      for (const i of list) matched.push({ lane: place, place: i });
    });
    status.textContent = matched.length === 1 ? '1 match, ' + time(sum) : matched.length + ' matches, ' + time(sum) + ' together';
    draw();
  }

  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      move((event.deltaX || event.deltaY) / 600);
    } else {
      zoom(Math.pow(1.0018, event.deltaY), ns(Math.max(left(), event.clientX - box.left)));
    }
  }, { passive: false });

  let drag = null;
  canvas.addEventListener('pointerdown', (event) => {
    drag = { x: event.clientX, from: view.from, to: view.to, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (drag) {
      const by = (drag.x - event.clientX) / (width - left()) * (drag.to - drag.from);
      if (Math.abs(event.clientX - drag.x) > 3) {
        drag.moved = true;
        canvas.classList.add('drag');
        tip.hidden = true;
      }
      if (drag.moved) show(drag.from + by, drag.to + by);
      return;
    }
    const box = canvas.getBoundingClientRect(), found = find(event.clientX - box.left, event.clientY - box.top);
    tip.hidden = !found;
    if (found) {
      fill(tip, describe(found));
      tip.style.left = Math.max(0, Math.min(event.clientX + 12, window.innerWidth - tip.offsetWidth - 8)) + 'px';
      tip.style.top = Math.max(0, Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 8)) + 'px';
    }
  });
  canvas.addEventListener('pointerup', (event) => {
    const box = canvas.getBoundingClientRect();
    if (drag && !drag.moved) choose(find(event.clientX - box.left, event.clientY - box.top));
    drag = null;
    canvas.classList.remove('drag');
  });
  canvas.addEventListener('pointercancel', () => { drag = null; });
  canvas.addEventListener('pointerleave', () => { tip.hidden = true; });
  canvas.addEventListener('dblclick', (event) => {
    const box = canvas.getBoundingClientRect(), found = find(event.clientX - box.left, event.clientY - box.top);
    if (found) zoomTo(found);
  });

  canvas.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const middle = (view.from + view.to) / 2;
    const keys = {
      ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2),
      ArrowUp: () => lane(-1), ArrowDown: () => lane(1),
      '+': () => zoom(0.5, middle), '=': () => zoom(0.5, middle), '-': () => zoom(2, middle),
      '0': () => show(0, whole), Home: () => show(0, span()), End: () => show(whole - span(), whole),
      n: () => step(1), p: () => step(-1), Enter: () => { if (chosen) zoomTo(chosen); },
      Escape: () => { search.value = ''; find_all(''); choose(null); }, '/': () => search.focus(),
    };
    const act = keys[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });

  function lane(by) {
    current = Math.max(0, Math.min(data.lanes.length - 1, current + by));
    const own = data.lanes[current], y = AXIS + current * LANE;
    if (y < plot.scrollTop || y + LANE > plot.scrollTop + plot.clientHeight) plot.scrollTop = y - AXIS;
    status.textContent = own ? own.label + ', ' + own.count + (own.count === 1 ? ' event' : ' events') : '';
    draw();
  }

  search.addEventListener('input', () => find_all(search.value));
  search.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') {
      event.preventDefault();
      step(event.shiftKey ? -1 : 1);
    } else if (event.key === 'Escape') {
      search.value = '';
      find_all('');
      canvas.focus();
    }
  });
  const press = (id, act) => byId(id).addEventListener('click', act);
  press('zoom-in', () => zoom(0.5, (view.from + view.to) / 2));
  press('zoom-out', () => zoom(2, (view.from + view.to) / 2));
  press('left', () => move(-0.5));
  press('right', () => move(0.5));
  press('reset', () => show(0, whole));
  press('next', () => step(1));
  press('previous', () => step(-1));
  document.addEventListener('click', (event) => {
    const button = event.target.closest('button');
    if (!button) return;
    if (button.dataset.search) {
      search.value = button.dataset.search;
      find_all(search.value);
      plot.scrollIntoView({ block: 'nearest' });
    } else if (button.dataset.start) {
      const from = Number(button.dataset.start), length = Math.max(100, Number(button.dataset.length));
      show(from - length, from + 2 * length);
      plot.scrollIntoView({ block: 'nearest' });
      canvas.focus({ preventScroll: true });
    }
  });
  plot.addEventListener('scroll', draw);
  window.addEventListener('resize', size);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { theme(); draw(); });

  for (const shade of data.shades) {
    const item = document.createElement('li'), box = document.createElement('i'), fillIn = document.createElement('b');
    box.className = 'a' + shade.anchor;
    fillIn.className = shade.class;
    box.append(fillIn);
    item.append(box, document.createTextNode(shade.label));
    byId('key').append(item);
  }
  theme();
  size();
})();
