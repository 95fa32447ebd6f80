'use strict';
(function () {
  // The document as `ridge roofline --format json` writes it. Every text in it is shown with textContent.
  var data = JSON.parse(document.getElementById('data').textContent);
  var NS = 'http://www.w3.org/2000/svg';
  var LEVELS = { dram: 'DRAM', l2: 'L2', l1: 'L1' };
  var CLASSES = ['memory', 'compute', 'latency', 'launch', 'none'];
  var MOST_LABELS = 40, IMPORTANT = 8, MOST_ROWS = 200, HIT = 22;

  function id(name) { return document.getElementById(name); }
  function el(tag, text, cls) {
    var node = document.createElement(tag);
    if (text !== undefined && text !== null) node.textContent = text;
    if (cls) node.className = cls;
    return node;
  }
  function sv(tag, attributes, text) {
    var node = document.createElementNS(NS, tag);
    for (var key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    return node;
  }
  function clear(node) { while (node.firstChild) node.removeChild(node.firstChild); }

  // Three figures with a prefix, as in the other formats.
  function si(value, unit) {
    if (value === null || value === undefined || !isFinite(value)) return '–';
    if (value === 0) return '0 ' + unit;
    var prefixes = ['', 'k', 'M', 'G', 'T', 'P', 'E'], group = 0, size = Math.abs(value);
    while (size >= 999.5 && group < prefixes.length - 1) { size /= 1000; group++; }
    return figures(size) + ' ' + prefixes[group] + unit;
  }
  function figures(size) {
    if (size === 0) return '0';
    if (size >= 999.5 && size < 1e9) return String(Math.round(size)).replace(/\B(?=(\d{3})+$)/g, ',');
    if (size >= 1e9 || size < 0.001) return size.toExponential(2);
    var digits = Math.max(0, 2 - Math.floor(Math.log10(size)));
    return size.toFixed(Math.min(digits, 6));
  }
  function time(ns) {
    if (ns === null || ns === undefined) return '–';
    var units = ['ns', 'us', 'ms', 's'], at = 0;
    while (ns >= 999.5 && at < 3) { ns /= 1000; at++; }
    return figures(ns) + ' ' + units[at];
  }
  function percent(share) {
    if (share === null || share === undefined) return '–';
    return figures(100 * share) + ' %';
  }
  function perByte(value, unit) {
    return figures(value) + (unit === 'OP/s' ? ' OP/byte' : ' FLOP/byte');
  }
  function tick(power, unit) {
    var value = Math.pow(10, power);
    if (power >= 0) return si(value, unit).replace(/^(\d+)\.0+ /, '$1 ').trim();
    return power >= -4 ? value.toFixed(-power) : '1e' + power;
  }

  var state = { chart: 0, level: document.body.dataset.level || 'dram', precision: 'main', filter: '', off: {}, roofs: {}, view: null, selected: null };
  var drawn = { dots: [], width: 0, height: 0 };

  function chart() { return data.charts[state.chart]; }
  function name(kernel) {
    return kernel.name + (kernel.side ? ' (' + kernel.side + ')' : '');
  }
  function placement(point) {
    return point.placements.find(function (place) { return place.level === state.level; });
  }
  function matches(kernel) {
    var wanted = state.filter.toLowerCase();
    return !wanted || (kernel.signature || kernel.name).toLowerCase().indexOf(wanted) >= 0 || kernel.name.toLowerCase().indexOf(wanted) >= 0;
  }
  // What is chosen, before anything is placed: points of kernels that pass the filter.
  function chosen() {
    var list = [];
    chart().kernels.forEach(function (kernel) {
      if (!matches(kernel) || state.off[kernel.class || 'none']) return;
      kernel.points.forEach(function (point) {
        var wanted = state.precision === 'main' ? point.is_main : state.precision === 'all' || point.precision_id === state.precision;
        var place = wanted && placement(point);
        if (place) list.push({ kernel: kernel, point: point, place: place });
      });
    });
    return list;
  }
  function shownRoof(roof) {
    return state.roofs[state.chart + roof.id];
  }
  // Roofs of the precisions that are drawn; a person's choice stays until another precision is chosen.
  function resetRoofs() {
    var used = {};
    chosen().forEach(function (dot) { used[dot.point.precision_id] = true; });
    var none = Object.keys(used).length === 0;
    chart().memory_roofs.forEach(function (roof) { state.roofs[state.chart + roof.id] = true; });
    chart().compute_roofs.forEach(function (roof) {
      state.roofs[state.chart + roof.id] = !!used[roof.precision_id] || (none && roof.precision_id === 'fp32-vector');
    });
  }
  function flats() { return chart().compute_roofs.filter(shownRoof); }
  function slopes() { return chart().memory_roofs.filter(shownRoof); }
  function ridge(roof) {
    return roof.ridge_points.find(function (point) { return point.level === state.level; });
  }

  function around(values) {
    var logs = values.filter(function (value) { return value > 0 && isFinite(value); }).map(Math.log10);
    if (!logs.length) return [0, 2];
    var low = logs[0], high = logs[0];
    logs.forEach(function (log) { low = Math.min(low, log); high = Math.max(high, log); });
    var lacking = Math.max(0, 2 - (high - low) - 0.6) / 2;
    return [low - 0.3 - lacking, high + 0.3 + lacking];
  }
  function whole() {
    var dots = chosen(), roofs = flats();
    var xs = dots.map(function (dot) { return dot.place.intensity; });
    roofs.forEach(function (roof) { var at = ridge(roof); if (at) xs.push(at.intensity); });
    var ys = dots.map(function (dot) { return dot.point.ops_per_s; }).concat(roofs.map(function (roof) { return roof.ops_per_s; }));
    var x = around(xs), y = around(ys);
    if (!dots.length) y[0] -= 2;
    return { x: x, y: y };
  }

  function shape(cls, x, y, r) {
    function path(corners) {
      return 'M' + corners.map(function (c) { return (x + c[0] * r).toFixed(1) + ' ' + (y + c[1] * r).toFixed(1); }).join('L') + 'Z';
    }
    switch (cls) {
      case 'memory': return 'M' + (x - r).toFixed(1) + ' ' + y.toFixed(1) + 'a' + r + ' ' + r + ' 0 1 0 ' + 2 * r + ' 0a' + r + ' ' + r + ' 0 1 0 -' + 2 * r + ' 0Z';
      case 'compute': return path([[-.89, -.89], [.89, -.89], [.89, .89], [-.89, .89]]);
      case 'latency': return path([[0, -1.3], [1.2, .8], [-1.2, .8]]);
      case 'launch': return path([[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]]);
      default: return path([[-.45, -1.1], [.45, -1.1], [.45, -.45], [1.1, -.45], [1.1, .45], [.45, .45], [.45, 1.1], [-.45, 1.1], [-.45, .45], [-1.1, .45], [-1.1, -.45], [-.45, -.45]]);
    }
  }
  function radius(dot) {
    var share = Math.min(1, Math.max(0, dot.kernel.time_share || 0));
    return Math.round(10 * (4 + 13 * Math.sqrt(share))) / 10;
  }

  // Areas that labels keep away from, in squares of the plane: thousands of dots are looked up in no time.
  function Taken() { this.cells = {}; }
  Taken.prototype.each = function (a, visit) {
    for (var i = Math.floor(a.x / 40); i <= Math.floor((a.x + a.w) / 40); i++)
      for (var j = Math.floor(a.y / 40); j <= Math.floor((a.y + a.h) / 40); j++)
        if (visit(i + ',' + j)) return true;
    return false;
  };
  Taken.prototype.add = function (a) {
    var cells = this.cells;
    this.each(a, function (key) { (cells[key] = cells[key] || []).push(a); });
  };
  Taken.prototype.hits = function (a) {
    var cells = this.cells;
    return this.each(a, function (key) {
      return (cells[key] || []).some(function (b) { return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h; });
    });
  };
  var measure = document.createElement('canvas').getContext('2d');
  function textWidth(text) {
    measure.font = '11px ' + getComputedStyle(document.body).fontFamily;
    return measure.measureText(text).width + 4;
  }

  function draw() {
    var host = id('plot'), width = Math.max(280, host.clientWidth), height = Math.round(Math.min(620, Math.max(280, 0.5 * width)));
    var left = width < 520 ? 58 : 78, top = 12, right = width - 12, bottom = height - 46;
    var view = state.view || whole();
    drawn.width = width; drawn.height = height; drawn.view = view;
    drawn.frame = { left: left, top: top, right: right, bottom: bottom };
    function X(v) { return left + (Math.log10(v) - view.x[0]) / (view.x[1] - view.x[0]) * (right - left); }
    function Y(v) { return bottom - (Math.log10(v) - view.y[0]) / (view.y[1] - view.y[0]) * (bottom - top); }
    var svg = sv('svg', { xmlns: NS, width: width, height: height, viewBox: '0 0 ' + width + ' ' + height, role: 'img', 'aria-label': id('heading').textContent });
    svg.appendChild(sv('title', {}, id('heading').textContent));
    svg.appendChild(sv('desc', {}, id('facts').textContent));
    // Grid and axes; FLOP/s, or OP/s where integers are among the points.
    var power, step, unit = chosen().some(function (dot) { return dot.point.unit === 'OP/s'; }) ? 'OP/s' : 'FLOP/s';
    step = Math.max(1, Math.ceil((view.x[1] - view.x[0]) / Math.max(2, (right - left) / 70)));
    for (power = Math.ceil(view.x[0]); power <= view.x[1]; power++) {
      if (((power % step) + step) % step) continue;
      var gx = X(Math.pow(10, power)).toFixed(1);
      svg.appendChild(sv('path', { class: 'g', d: 'M' + gx + ' ' + top + 'L' + gx + ' ' + bottom }));
      svg.appendChild(sv('text', { class: 'd', x: gx, y: bottom + 16, 'text-anchor': 'middle' }, tick(power, '')));
    }
    step = Math.max(1, Math.ceil((view.y[1] - view.y[0]) / 9));
    for (power = Math.ceil(view.y[0]); power <= view.y[1]; power++) {
      if (((power % step) + step) % step) continue;
      var gy = Y(Math.pow(10, power)).toFixed(1);
      svg.appendChild(sv('path', { class: 'g', d: 'M' + left + ' ' + gy + 'L' + right + ' ' + gy }));
      svg.appendChild(sv('text', { class: 'd', x: left - 6, y: +gy + 4, 'text-anchor': 'end' }, tick(power, width < 520 ? '' : unit)));
    }
    svg.appendChild(sv('path', { class: 'a', d: 'M' + left + ' ' + top + 'V' + bottom + 'H' + right }));
    svg.appendChild(sv('text', { class: 't', x: (left + right) / 2, y: bottom + 36, 'text-anchor': 'middle' }, width < 520 ? unit + ' over ' + unit.replace('/s', '/byte') : 'arithmetic intensity (' + unit.replace('/s', '/byte') + ' of ' + LEVELS[state.level] + ')'));
    svg.appendChild(sv('clipPath', { id: 'plot-clip' })).appendChild(sv('rect', { x: left, y: top, width: right - left, height: bottom - top }));
    var body = svg.appendChild(sv('g', { 'clip-path': 'url(#plot-clip)' }));
    var dots = chosen(), taken = new Taken(), lines = new Taken();
    function along(x1, y1, x2, y2) {
      var steps = Math.max(1, Math.ceil(Math.hypot(x2 - x1, y2 - y1) / 6));
      for (var step = 0; step <= steps; step++) lines.add({ x: x1 + (x2 - x1) * step / steps - 1.5, y: y1 + (y2 - y1) * step / steps - 1.5, w: 3, h: 3 });
    }
    dots.forEach(function (dot) { dot.x = X(dot.place.intensity); dot.y = Y(dot.point.ops_per_s); dot.r = radius(dot); });
    drawn.dots = dots.filter(function (dot) { return dot.x >= left - 1 && dot.x <= right + 1 && dot.y >= top - 1 && dot.y <= bottom + 1; });
    // Names keep away from all dots, also those of the roofs.
    drawn.dots.forEach(function (dot) { taken.add({ x: dot.x - dot.r, y: dot.y - dot.r, w: 2 * dot.r, h: 2 * dot.r }); });
    // Roofs. Their names come last: the list of roofs has them too, and nothing else names the points.
    var names = [], highest = 0, named = {}, xl = Math.pow(10, view.x[0]), xh = Math.pow(10, view.x[1]), yl = Math.pow(10, view.y[0]);
    flats().forEach(function (roof) { highest = Math.max(highest, roof.ops_per_s); });
    if (!highest) highest = Math.pow(10, view.y[1]);
    slopes().forEach(function (roof) {
      var own = roof.level === state.level, from = Math.max(xl, yl / roof.bytes_per_s), to = Math.min(xh, highest / roof.bytes_per_s);
      if (from >= to) return;
      var x1 = X(from), y1 = Y(from * roof.bytes_per_s), x2 = X(to), y2 = Y(to * roof.bytes_per_s);
      var line = body.appendChild(sv('path', { class: 'roof ' + roof.basis + (own ? '' : ' other'), d: 'M' + x1.toFixed(1) + ' ' + y1.toFixed(1) + 'L' + x2.toFixed(1) + ' ' + y2.toFixed(1), 'data-roof': roof.id }));
      line.appendChild(sv('title', {}, roof.label));
      along(x1, y1, x2, y2);
      names.push(function () {
        var text = LEVELS[roof.level] + ' ' + si(roof.bytes_per_s, 'B/s'), size = textWidth(text), dx = x2 - x1, dy = y2 - y1, length = Math.hypot(dx, dy), ux = dx / length, uy = dy / length;
        for (var start = 10; start + size + 8 < length && start < 3 * size && !named[text]; start += size) {
          var ax = x1 + ux * start + uy * 6, ay = y1 + uy * start - ux * 6, boxes = [];
          for (var k = 0; k < 8; k++) boxes.push({ x: ax + ux * size * k / 7 - 8, y: ay + uy * size * k / 7 - 12, w: 16, h: 16 });
          if (boxes.some(function (box) { return box.y < top || taken.hits(box); })) continue;
          boxes.forEach(function (box) { taken.add(box); });
          named[text] = true;
          body.appendChild(sv('text', { class: 'rt', transform: 'translate(' + ax.toFixed(1) + ' ' + ay.toFixed(1) + ') rotate(' + (Math.atan2(uy, ux) * 180 / Math.PI).toFixed(1) + ')' }, text));
          break;
        }
      });
    });
    flats().forEach(function (roof) {
      var at = ridge(roof), from = Math.max(xl, at ? at.intensity : xl), y = Y(roof.ops_per_s);
      if (from >= xh) return;
      var line = body.appendChild(sv('path', { class: 'roof ' + roof.basis, d: 'M' + X(from).toFixed(1) + ' ' + y.toFixed(1) + 'H' + right, 'data-roof': roof.id }));
      line.appendChild(sv('title', {}, roof.label));
      along(X(from), y, right, y);
      names.push(function () {
        var text = roof.label.split(/[,:]/)[0] + ' ' + si(roof.ops_per_s, roof.unit), size = textWidth(text);
        // Above the line at its right end, below it, and then further left.
        [[0, -15], [0, 2], [.5, -15], [.5, 2], [1.1, -15], [1.1, 2], [1.6, -15], [1.6, 2], [2.2, -15], [2.2, 2]].some(function (way) {
          var box = { x: right - size - 4 - way[0] * size, y: y + way[1], w: size, h: 13 };
          if (named[text] || box.x < Math.max(left, X(from)) || box.y < top || box.y + 13 > bottom || taken.hits(box)) return false;
          // Names do not lie on lines, also not on those of other roofs.
          if (flats().some(function (other) { var line = Y(other.ops_per_s); return line > box.y - 1 && line < box.y + 14; })) return false;
          taken.add(box);
          named[text] = true;
          body.appendChild(sv('text', { class: 'rt', x: (box.x + size).toFixed(1), y: (box.y + 10.5).toFixed(1), 'text-anchor': 'end' }, text));
          return true;
        });
      });
      if (at && at.intensity >= xl && at.intensity <= xh) {
        var mark = body.appendChild(sv('path', { class: 'ridge', d: shape('memory', X(at.intensity), y, 3.5), 'data-ridge': roof.id }));
        mark.appendChild(sv('title', {}, 'ridge point of ' + roof.label + ': ' + perByte(at.intensity, roof.unit)));
        taken.add({ x: X(at.intensity) - 4, y: y - 4, w: 8, h: 8 });
      }
    });
    // Dots: those that take most time below, so that small ones stay visible.
    arrows(body, dots, taken);
    drawn.dots.forEach(function (dot) {
      var cls = dot.kernel.class || 'none';
      var isOn = state.selected === dot.kernel.id;
      dot.node = body.appendChild(sv('path', {
        class: 'dot ' + cls + (dot.kernel.side === 'before' ? ' before' : '') + (dot.point.is_main ? '' : ' minor') + (isOn ? ' sel' : ''),
        d: shape(cls, dot.x, dot.y, dot.r), 'data-kernel': dot.kernel.id, 'data-precision': dot.point.precision_id,
        'data-intensity': dot.place.intensity, 'data-rate': dot.point.ops_per_s
      }));
      if (dot.point.flags.length) {
        body.appendChild(sv('path', { class: 'flag', d: shape('memory', dot.x, dot.y, dot.r + 4) }));
        body.appendChild(sv('text', { class: 'ft', x: dot.x + dot.r + 3, y: dot.y - dot.r - 1 }, '!'));
        taken.add({ x: dot.x + dot.r, y: dot.y - dot.r - 12, w: 10, h: 14 });
      }
    });
    var frame = drawn.frame, room = labels(body, taken, lines, frame, 0, IMPORTANT, MOST_LABELS);
    names.forEach(function (write) { write(); });
    labels(body, taken, lines, frame, IMPORTANT, 4 * MOST_LABELS, room);
    clear(host);
    host.appendChild(svg);
  }

  function arrows(body, dots, taken) {
    var byKernel = {};
    dots.forEach(function (dot) { if (!byKernel[dot.kernel.id] || dot.point.is_main) byKernel[dot.kernel.id] = dot; });
    chart().pairs.forEach(function (pair) {
      var from = byKernel[pair.before], to = byKernel[pair.after];
      if (!from || !to) return;
      var dx = to.x - from.x, dy = to.y - from.y, length = Math.hypot(dx, dy), ux = dx / length, uy = dy / length;
      var start = from.r + 1, end = length - to.r - 3;
      if (end - start < 8) return;
      function on(along) { return [from.x + ux * along, from.y + uy * along]; }
      var a = on(start), b = on(end - 6), base = on(end - 8), tip = on(end);
      body.appendChild(sv('path', { class: 'arrow', d: 'M' + a.join(' ') + 'L' + b.join(' '), 'data-pair': pair.before + '-' + pair.after }));
      body.appendChild(sv('path', { class: 'head', d: 'M' + tip.join(' ') + 'L' + (base[0] - uy * 4.5) + ' ' + (base[1] + ux * 4.5) + 'L' + (base[0] + uy * 4.5) + ' ' + (base[1] - ux * 4.5) + 'Z' }));
      for (var along = 0; along < length; along += 8) taken.add({ x: on(along)[0] - 3, y: on(along)[1] - 3, w: 6, h: 6 });
    });
  }

  // Those that take most time first; the first ones are shortened or moved away from their dot before they go without.
  // Returns how many more there may be.
  function labels(body, taken, lines, frame, first, end, left) {
    drawn.dots.slice(first, end).forEach(function (dot) {
      if (!left) return;
      var h = 14, flagged = dot.point.flags.length ? 5 : 0, away = dot.r + 3 + flagged, c = .75 * dot.r + 3 + flagged, whole = name(dot.kernel);
      var texts = [34, 20, 12].filter(function (most, at) { return !at || whole.length > most; }).map(function (most) { return whole.length > most ? whole.slice(0, most - 1) + '…' : whole; });
      function put(text, w, x, y, lead, clear) {
        var box = { x: x, y: y, w: w, h: h };
        if (box.x < frame.left || box.y < frame.top || box.x + w > frame.right || box.y + h > frame.bottom || taken.hits(box) || (clear && lines.hits(box))) return false;
        var parts = [];
        if (lead) {
          // The line to the name crosses nothing either, unless the dot is walled in.
          var ex = Math.max(x, Math.min(dot.x, x + w)), ey = Math.max(y, Math.min(dot.y, y + h)), length = Math.hypot(ex - dot.x, ey - dot.y);
          for (var at = dot.r + 3; at < length; at += 6) parts.push({ x: dot.x + (ex - dot.x) * at / length - 1.5, y: dot.y + (ey - dot.y) * at / length - 1.5, w: 3, h: 3 });
          if (clear && parts.some(function (part) { return taken.hits(part); })) return false;
          body.appendChild(sv('path', { class: 'lead', d: 'M' + (dot.x + (ex - dot.x) / length * dot.r).toFixed(1) + ' ' + (dot.y + (ey - dot.y) / length * dot.r).toFixed(1) + 'L' + ex.toFixed(1) + ' ' + ey.toFixed(1) }));
        }
        parts.concat([box]).forEach(function (area) { taken.add(area); });
        left--;
        body.appendChild(sv('text', { class: 'lab', x: x.toFixed(1), y: (y + 11).toFixed(1), 'data-kernel': dot.kernel.id }, text));
        return true;
      }
      // Lines are covered before a name is left out.
      function near(clear) {
        return texts.some(function (text) {
          var w = textWidth(text);
          return [[dot.x + away, dot.y - 7], [dot.x - away - w, dot.y - 7], [dot.x - w / 2, dot.y - away - h], [dot.x - w / 2, dot.y + away],
            [dot.x + c, dot.y - c - h], [dot.x + c, dot.y + c], [dot.x - c - w, dot.y - c - h], [dot.x - c - w, dot.y + c]].some(function (place) { return put(text, w, place[0], place[1], false, clear); });
        });
      }
      function further(clear) {
        return texts.some(function (text) {
          var w = textWidth(text);
          for (var far = 12; far <= 170; far += 12)
            for (var step = 0; step < 16; step++) {
              var angle = step * Math.PI / 8;
              if (put(text, w, dot.x + Math.cos(angle) * (away + far + w / 2) - w / 2, dot.y + Math.sin(angle) * (away + far + h / 2) - h / 2, true, clear)) return true;
            }
          return false;
        });
      }
      if (!near(true) && !near(false) && first < IMPORTANT && !further(true)) further(false);
    });
    return left;
  }

  // One line of facts about a kernel and its point.
  function facts(dot) {
    var kernel = dot.kernel, point = dot.point, list = el('dl');
    function add(term, value) { if (value) { list.appendChild(el('dt', term)); list.appendChild(el('dd', value)); } }
    add('rate', si(point.ops_per_s, point.unit) + ', ' + point.label);
    add('intensity', perByte(dot.place.intensity, point.unit) + ' at ' + LEVELS[state.level]);
    add('of what the roof allows', dot.place.share === null ? 'no roof is known' : percent(dot.place.share) + ', on the ' + dot.place.bound + ' side of the ridge point');
    if (point.roof) add('of the flat roof', percent(point.roof.share) + ' of ' + si(point.roof.ops_per_s, point.unit) + ' (' + basis(point.roof.basis) + ')');
    if (declared(kernel)) add('time', time(kernel.time_ns) + ', the median of a benchmark');
    else add('time', time(kernel.time_ns) + ' a launch, ' + kernel.launches.length + (kernel.launches.length === 1 ? ' launch' : ' launches') + ', ' + percent(kernel.time_share) + ' of all');
    add('limited by', kernel.class);
    add('operations', si(point.operations, point.unit.replace('/s', '')));
    if (declared(kernel)) add('amounts', 'bytes and operations are declared by the spec, not counted');
    if (point.may_be_moves) add('doubt', 'these few half-precision multiply-adds may be loads of constants, which compilers write so');
    kernel.traffic.forEach(function (traffic) {
      add(LEVELS[traffic.level], si(traffic.bytes, 'B') + ', ' + si(traffic.bytes_per_s, 'B/s') + (traffic.roof_share === null ? '' : ', ' + percent(traffic.roof_share) + ' of its roof'));
    });
    return list;
  }
  function declared(kernel) { return kernel.origin === 'declared'; }
  function share(kernel) { return kernel.time_share === null && declared(kernel) ? time(kernel.time_ns) : percent(kernel.time_share); }
  function basis(word) { return word === 'run' ? 'at the clock of the run' : word; }
  function flagText(flag, point) {
    var roof = flag.level ? 'the bandwidth of ' + LEVELS[flag.level] : 'the ' + point.label + ' roof';
    return figures(flag.factor) + ' times ' + roof + ' (' + basis(flag.basis) + '), which cannot be; likely, in this order: ' + flag.causes.map(function (cause) { return cause.text; }).join('; or ');
  }

  function nearest(event) {
    var box = id('plot').getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top, best = null, least = HIT;
    drawn.dots.forEach(function (dot) {
      var away = Math.max(0, Math.hypot(dot.x - x, dot.y - y) - dot.r);
      if (away < least || (away === least && best && dot.r < best.r)) { least = away; best = dot; }
    });
    return best;
  }
  function showTip(dot, x, y) {
    var tip = id('tip');
    if (!dot) { tip.hidden = true; return; }
    clear(tip);
    tip.appendChild(el('strong', name(dot.kernel)));
    tip.appendChild(facts(dot));
    dot.point.flags.forEach(function (flag) { tip.appendChild(el('p', '! ' + flagText(flag, dot.point), 'bad')); });
    tip.hidden = false;
    var size = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - size.width - 8)) + 'px';
    tip.style.top = Math.max(4, y + 14 + size.height > innerHeight ? y - size.height - 14 : y + 14) + 'px';
  }
  function select(kernel) {
    state.selected = kernel;
    var host = id('detail');
    clear(host);
    var dots = chosen().filter(function (dot) { return dot.kernel.id === kernel; });
    if (dots.length) {
      host.appendChild(el('strong', name(dots[0].kernel)));
      if (dots[0].kernel.signature) host.appendChild(el('div', dots[0].kernel.signature));
      dots.forEach(function (dot) {
        host.appendChild(facts(dot));
        dot.point.flags.forEach(function (flag) { host.appendChild(el('p', '! ' + flagText(flag, dot.point), 'bad')); });
      });
    }
    drawn.dots.forEach(function (dot) { dot.node.classList.toggle('sel', dot.kernel.id === kernel); });
    Array.prototype.forEach.call(document.querySelectorAll('#list tbody tr'), function (row) { row.classList.toggle('on', row.dataset.kernel === String(kernel)); });
  }
  function stepSelection(by) {
    if (!drawn.dots.length) return;
    var at = drawn.dots.findIndex(function (dot) { return dot.kernel.id === state.selected; });
    var next = at < 0 ? (by > 0 ? 0 : drawn.dots.length - 1) : (at + by + drawn.dots.length) % drawn.dots.length;
    select(drawn.dots[next].kernel.id);
    var box = id('plot').getBoundingClientRect();
    showTip(drawn.dots[next], box.left + drawn.dots[next].x, box.top + drawn.dots[next].y);
  }

  function zoom(factor, fx, fy) {
    var view = drawn.view;
    function around(range, at) {
      var middle = range[0] + at * (range[1] - range[0]), span = Math.min(40, Math.max(0.05, (range[1] - range[0]) * factor));
      return [middle - at * span, middle + (1 - at) * span];
    }
    state.view = { x: around(view.x, fx), y: around(view.y, fy) };
    schedule();
  }
  function move(dx, dy) {
    var view = drawn.view, w = view.x[1] - view.x[0], h = view.y[1] - view.y[0];
    state.view = { x: [view.x[0] + dx * w, view.x[1] + dx * w], y: [view.y[0] + dy * h, view.y[1] + dy * h] };
    schedule();
  }
  var waiting = false;
  function schedule() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(function () { waiting = false; draw(); });
  }

  function table(head, body, columns, rows) {
    clear(head); clear(body);
    var line = head.appendChild(el('tr'));
    columns.forEach(function (column) { var cell = el('th', column[0], column[1]); cell.scope = 'col'; line.appendChild(cell); });
    rows.forEach(function (row) { body.appendChild(row); });
  }
  function list() {
    var dots = chosen();
    var rows = dots.slice(0, MOST_ROWS).map(function (dot) {
      var row = el('tr', null, 'row'), cell = el('td', null, 'k'), button = el('button', (dot.point.flags.length ? '! ' : '') + name(dot.kernel));
      button.type = 'button';
      cell.appendChild(button);
      row.dataset.kernel = dot.kernel.id;
      row.dataset.precision = dot.point.precision_id;
      row.appendChild(cell);
      [[share(dot.kernel), 'num'], [si(dot.point.ops_per_s, dot.point.unit), 'num'], [figures(dot.place.intensity), 'num'], [percent(dot.place.share), 'num'], [dot.kernel.class || '–', ''], [dot.point.label, 'wide']].forEach(function (item) { row.appendChild(el('td', item[0], item[1])); });
      row.addEventListener('click', function () { select(dot.kernel.id); });
      return row;
    });
    table(document.querySelector('#list thead'), document.querySelector('#list tbody'), [['kernel', ''], ['time', 'num'], ['rate', 'num'], ['per byte', 'num'], ['of roof', 'num'], ['limited by', ''], ['precision', 'wide']], rows);
    id('more').textContent = dots.length > MOST_ROWS ? 'and ' + (dots.length - MOST_ROWS) + ' more points; the filter finds them, and --format csv lists all' : dots.length ? '' : 'No point matches the choice.';
    var beside = chart().kernels.filter(function (kernel) {
      return matches(kernel) && !kernel.points.some(placement);
    });
    id('beside').hidden = !beside.length;
    table(document.querySelector('#beside thead'), document.querySelector('#beside tbody'), [['kernel', ''], ['time', 'num'], ['bandwidth', 'num'], ['of roof', 'num'], ['why', '']], beside.slice(0, MOST_ROWS).map(function (kernel) {
      var row = el('tr'), traffic = kernel.traffic.find(function (moved) { return moved.level === state.level; }) || {};
      [[name(kernel), 'k'], [share(kernel), 'num'], [si(traffic.bytes_per_s, 'B/s'), 'num'], [percent(traffic.roof_share), 'num'], [reason(kernel), '']].forEach(function (item) { row.appendChild(el('td', item[0], item[1])); });
      return row;
    }));
    var host = id('flags');
    clear(host);
    dots.filter(function (dot) { return dot.point.flags.length; }).slice(0, 20).forEach(function (dot) {
      dot.point.flags.forEach(function (flag) { host.appendChild(el('p', '! ' + name(dot.kernel) + ': ' + flagText(flag, dot.point), 'bad')); });
    });
    if (chart().kernels.some(declared)) host.appendChild(el('p', DECLARED));
  }
  // The sentence of the document's contract, for kernels whose amounts nobody counted.
  var DECLARED = 'bytes and operations of benchmarks are those that their specs declare, not counted: what a kernel moves or computes beyond them does not show';
  function reason(kernel) {
    switch (kernel.left_out) {
      case 'no-operations': return 'no floating-point or matrix operations';
      case 'operations-not-counted': return 'operations were not counted';
      case 'no-bytes': return 'no bytes were counted';
      case 'no-time': return 'its time is not known';
      case 'implausible': return 'a counter holds a number that cannot be';
      case 'operations-not-declared': return 'its spec declares no operations: add flops, unless it computes nothing';
      case 'bytes-not-declared': return 'its spec declares no bytes: add bytes';
      case 'nothing-declared': return 'its spec declares neither bytes nor operations: add bytes and flops';
      case 'not-valid': return 'its measurement is not valid';
      case 'wrong-outputs': return 'its outputs are wrong';
      case 'did-not-run': return 'it did not run';
      case 'host-time': return 'its time has launch and wait in it: measure with --mode cold, hot, batch or graph';
      default:
        if (!declared(kernel)) return 'no bytes of ' + LEVELS[state.level] + ' were counted';
        return kernel.traffic.some(function (moved) { return moved.level === 'l2'; }) ? 'its data stays in the L2 between launches: choose the bytes of L2' : 'its spec declares bytes of device memory: choose those of DRAM';
    }
  }

  function option(value, text) { var node = el('option', text); node.value = value; return node; }
  function checkbox(host, text, isOn, change) {
    var label = el('label'), box = el('input');
    box.type = 'checkbox'; box.checked = isOn;
    box.addEventListener('change', function () { change(box.checked); });
    label.appendChild(box);
    label.appendChild(el('span', text));
    host.appendChild(label);
    return box;
  }
  function sample(cls, side) {
    var svg = sv('svg', { width: 16, height: 16, 'aria-hidden': 'true' });
    svg.appendChild(sv('path', { class: 'dot ' + cls + (side ? ' ' + side : ''), d: shape(cls, 8, 8, 5.5) }));
    return svg;
  }
  function controls() {
    var current = chart(), levels = {}, precisions = {}, classes = {}, sides = false;
    id('heading').textContent = 'Roofline of ' + (current.device.name || 'a device that is not known');
    var clock = current.device.sm_clock_hz, points = 0;
    current.kernels.forEach(function (kernel) {
      classes[kernel.class || 'none'] = true;
      sides = sides || kernel.side;
      kernel.points.forEach(function (point) {
        points++;
        precisions[point.precision_id] = point.label;
        point.placements.forEach(function (place) { levels[place.level] = true; });
      });
    });
    current.memory_roofs.forEach(function (roof) { levels[roof.level] = true; });
    id('facts').textContent = [
      current.kernels.length + (current.kernels.length === 1 ? ' kernel, ' : ' kernels, ') + points + (points === 1 ? ' point' : ' points'),
      clock ? 'SM clock of the runs ' + figures(clock[0] / 1e9) + (clock[1] > 1.005 * clock[0] ? ' to ' + figures(clock[1] / 1e9) : '') + ' GHz' : '',
      current.device.sheet ? 'data sheet: ' + current.device.sheet + (current.device.sheet_scaled_to ? ', scaled to ' + current.device.sheet_scaled_to + ' SMs' : '') : 'no data sheet is known',
      data.sources.map(function (source) { return source.file + (source.side ? ' (' + source.side + ')' : ''); }).join(', ')
    ].filter(Boolean).join('; ');
    if (!levels[state.level]) state.level = Object.keys(LEVELS).find(function (level) { return levels[level]; }) || state.level;
    clear(id('level'));
    Object.keys(LEVELS).forEach(function (level) { if (levels[level]) id('level').appendChild(option(level, LEVELS[level])); });
    id('level').value = state.level;
    clear(id('precision'));
    id('precision').appendChild(option('main', 'main one of each kernel'));
    id('precision').appendChild(option('all', 'all'));
    Object.keys(precisions).forEach(function (key) { id('precision').appendChild(option(key, precisions[key])); });
    id('precision').value = state.precision;
    var fields = id('classes');
    while (fields.children.length > 1) fields.removeChild(fields.lastChild);
    clear(id('key'));
    CLASSES.forEach(function (cls) {
      if (!classes[cls]) return;
      var text = cls === 'none' ? 'not diagnosed' : cls;
      var box = checkbox(fields, text, !state.off[cls], function (isOn) { state.off[cls] = !isOn; changed(false); });
      box.dataset.class = cls;
      var item = el('li');
      item.appendChild(sample(cls));
      item.appendChild(el('span', cls === 'none' ? text : 'limited by ' + text));
      id('key').appendChild(item);
    });
    if (sides) ['before', 'after'].forEach(function (side) {
      var item = el('li');
      item.appendChild(sample('none', side));
      item.appendChild(el('span', side));
      id('key').appendChild(item);
    });
    ['solid line: roof at the clock of the run', 'dashed: data sheet'].forEach(function (text) { id('key').appendChild(el('li', text)); });
    if (current.memory_roofs.concat(current.compute_roofs).some(function (roof) { return roof.basis === 'measured'; })) id('key').appendChild(el('li', 'dash and dot: measured'));
  }
  function roofList() {
    var host = id('roofs');
    clear(host);
    chart().memory_roofs.concat(chart().compute_roofs).forEach(function (roof) {
      var at = roof.ridge_points && ridge(roof);
      var text = roof.label + (at ? '; ridge point ' + perByte(at.intensity, roof.unit) : '') + ' [' + roof.origin + ']';
      var box = checkbox(host, text, shownRoof(roof), function (isOn) { state.roofs[state.chart + roof.id] = isOn; schedule(); });
      box.dataset.roof = roof.id;
    });
  }
  // After another choice: roofs follow where the precisions changed, the view stays unless its axes did.
  function changed(isOther) {
    if (isOther) { state.view = null; resetRoofs(); roofList(); }
    list();
    draw();
    select(state.selected);
  }

  function source() {
    var copy = document.querySelector('#plot svg').cloneNode(true), style = sv('style', {}, id('picture-style').textContent);
    copy.insertBefore(style, copy.firstChild);
    return new XMLSerializer().serializeToString(copy);
  }
  function png() {
    return new Promise(function (resolve, reject) {
      var image = new Image(), address = URL.createObjectURL(new Blob([source()], { type: 'image/svg+xml' }));
      image.onload = function () {
        var canvas = document.createElement('canvas'), context = canvas.getContext('2d');
        canvas.width = 2 * drawn.width; canvas.height = 2 * drawn.height;
        context.fillStyle = getComputedStyle(document.body).backgroundColor;
        context.fillRect(0, 0, canvas.width, canvas.height);
        context.drawImage(image, 0, 0, canvas.width, canvas.height);
        URL.revokeObjectURL(address);
        canvas.toBlob(function (blob) { if (blob) resolve(blob); else reject(new Error('no picture')); }, 'image/png');
      };
      image.onerror = function () { reject(new Error('no picture')); };
      image.src = address;
    });
  }
  function say(text) { id('status').textContent = text; }
  function save(blob, file) {
    var link = el('a');
    link.href = URL.createObjectURL(blob);
    link.download = file;
    link.click();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
    say('saved as ' + file);
  }
  function svgBlob() { return new Blob([source()], { type: 'image/svg+xml' }); }
  function wire() {
    data.charts.forEach(function (item, place) { id('chart').appendChild(option(place, item.device.name || 'device ' + (place + 1))); });
    id('chart-label').hidden = data.charts.length < 2;
    id('controls').addEventListener('submit', function (event) { event.preventDefault(); });
    id('chart').addEventListener('change', function () { state.chart = +this.value; state.selected = null; state.precision = 'main'; controls(); changed(true); });
    id('level').addEventListener('change', function () { state.level = this.value; changed(true); });
    id('precision').addEventListener('change', function () { state.precision = this.value; changed(true); });
    id('filter').addEventListener('input', function () { state.filter = this.value; changed(false); });
    id('zoom-in').addEventListener('click', function () { zoom(0.7, 0.5, 0.5); });
    id('zoom-out').addEventListener('click', function () { zoom(1 / 0.7, 0.5, 0.5); });
    id('zoom-reset').addEventListener('click', function () { state.view = null; schedule(); });
    id('save-svg').addEventListener('click', function () { save(svgBlob(), 'roofline.svg'); });
    id('save-png').addEventListener('click', function () { png().then(function (blob) { save(blob, 'roofline.png'); }, function () { say('this browser makes no PNG'); }); });
    id('copy-svg').addEventListener('click', function () {
      var text = source();
      (navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject()).then(function () { say('SVG copied'); }, function () { save(svgBlob(), 'roofline.svg'); say('the clipboard is not available: saved as roofline.svg'); });
    });
    id('copy-png').addEventListener('click', function () {
      var blob = png();
      (navigator.clipboard && window.ClipboardItem ? navigator.clipboard.write([new ClipboardItem({ 'image/png': blob })]) : Promise.reject()).then(function () { say('PNG copied'); }, function () {
        blob.then(function (picture) { save(picture, 'roofline.png'); say('the clipboard is not available: saved as roofline.png'); }, function () { say('this browser makes no PNG'); });
      });
    });
    var host = id('plot'), drag = null;
    host.addEventListener('wheel', function (event) {
      event.preventDefault();
      var box = host.getBoundingClientRect(), frame = drawn.frame;
      var fx = (event.clientX - box.left - frame.left) / (frame.right - frame.left), fy = (frame.bottom - event.clientY + box.top) / (frame.bottom - frame.top);
      zoom(event.deltaY > 0 ? 1.18 : 1 / 1.18, Math.min(1, Math.max(0, fx)), Math.min(1, Math.max(0, fy)));
    }, { passive: false });
    host.addEventListener('pointerdown', function (event) {
      if (event.button) return;
      drag = { x: event.clientX, y: event.clientY, view: drawn.view, moved: false };
      host.setPointerCapture(event.pointerId);
    });
    host.addEventListener('pointermove', function (event) {
      if (!drag) { showTip(nearest(event), event.clientX, event.clientY); return; }
      var dx = event.clientX - drag.x, dy = event.clientY - drag.y, frame = drawn.frame;
      if (!drag.moved && Math.hypot(dx, dy) < 5) return;
      drag.moved = true;
      host.classList.add('drag');
      showTip(null);
      var w = (drag.view.x[1] - drag.view.x[0]) / (frame.right - frame.left), h = (drag.view.y[1] - drag.view.y[0]) / (frame.bottom - frame.top);
      state.view = { x: [drag.view.x[0] - dx * w, drag.view.x[1] - dx * w], y: [drag.view.y[0] + dy * h, drag.view.y[1] + dy * h] };
      schedule();
    });
    host.addEventListener('pointerup', function (event) {
      if (drag && !drag.moved) { var dot = nearest(event); select(dot ? dot.kernel.id : null); }
      drag = null;
      host.classList.remove('drag');
    });
    host.addEventListener('pointercancel', function () { drag = null; host.classList.remove('drag'); });
    host.addEventListener('pointerleave', function () { showTip(null); });
    host.addEventListener('blur', function () { showTip(null); });
    host.addEventListener('dblclick', function () { state.view = null; schedule(); });
    host.addEventListener('keydown', function (event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      var moves = { ArrowLeft: [-.15, 0], ArrowRight: [.15, 0], ArrowUp: [0, .15], ArrowDown: [0, -.15] };
      if (event.shiftKey && moves[event.key]) move(moves[event.key][0], moves[event.key][1]);
      else if (event.key === 'ArrowRight' || event.key === 'ArrowDown') stepSelection(1);
      else if (event.key === 'ArrowLeft' || event.key === 'ArrowUp') stepSelection(-1);
      else if (event.key === '+' || event.key === '=') zoom(0.7, 0.5, 0.5);
      else if (event.key === '-') zoom(1 / 0.7, 0.5, 0.5);
      else if (event.key === '0') { state.view = null; schedule(); }
      else if (event.key === 'Escape') { select(null); showTip(null); }
      else return;
      event.preventDefault();
    });
    if (window.ResizeObserver) {
      new ResizeObserver(function () { if (host.clientWidth !== drawn.width) schedule(); }).observe(host);
    } else window.addEventListener('resize', schedule);
    data.warnings.forEach(function (warning) {
      var file = warning.source === null ? null : data.sources[warning.source];
      id('warnings').appendChild(el('p', '! ' + (file ? file.file + ': ' : '') + warning.message, 'bad'));
    });
  }
  wire();
  controls();
  changed(true);
})();
