// A layered layout: producers above consumers, few crossings, arrows around boxes and never through them.
//
// Between two layers of boxes lies a layer of labels. An arrow is a chain of points, one a layer that it passes,
// and each point has its own room in its layer: so nothing runs through a box or a label. Orders come from
// barycentres, places from least squares under the order of a layer (pool adjacent violators).

const GAP = 22; // pixels between neighbours of a layer
const RISE = 16; // pixels between two layers
const LABEL = 15; // pixels of a layer of labels
const ALONE = 4; // boxes without arrows that stand beside one another
const SWEEPS = 10;

/** Layers by the longest way from a source; in a circle the box that waits for the fewest goes first. */
function layersOf(size, edges) {
  const waits = new Array(size).fill(0),
    out = Array.from({ length: size }, () => []),
    level = new Array(size).fill(0);
  for (const { tail, head } of edges)
    if (tail !== head) {
      waits[head]++;
      out[tail].push(head);
    }
  const left = new Set(waits.keys()),
    order = new Array(size);
  let place = 0;
  while (left.size) {
    let next = -1;
    for (const at of left) if (next < 0 || waits[at] < waits[next]) next = at;
    left.delete(next);
    order[next] = place++;
    for (const head of out[next])
      if (left.has(head)) {
        waits[head]--;
        level[head] = Math.max(level[head], level[next] + 1);
      }
  }
  lowerSources(size, edges, level);
  return { level, order };
}

/** Sources stand right above the first that needs them, so that their arrows are short. */
function lowerSources(size, edges, level) {
  const nearest = new Array(size).fill(Infinity),
    fed = new Set();
  for (const { tail, head } of edges) {
    if (tail === head) continue;
    nearest[tail] = Math.min(nearest[tail], level[head]);
    fed.add(head);
  }
  for (let at = 0; at < size; at++)
    if (!fed.has(at) && nearest[at] < Infinity && nearest[at] > level[at]) level[at] = nearest[at] - 1;
}

/** Points by layer: boxes in the even ones, labels and passing arrows between. */
function pointsOf(boxes, edges, level, order) {
  const ranks = [],
    points = [];
  const add = (rank, point) => {
    (ranks[rank] ||= []).push(point);
    points.push(Object.assign(point, { rank, x: 0, up: [], down: [] }));
    return point;
  };
  const nodes = boxes.map((box, at) =>
    box.skip ? null : add(2 * level[at], { box: at, l: box.w / 2, r: box.w / 2, h: box.h, weight: 1 }),
  );
  const chains = edges.map((edge, at) => {
    if (edge.tail === edge.head) return null;
    const turned = order[edge.tail] > order[edge.head];
    const [from, to] = turned ? [edge.head, edge.tail] : [edge.tail, edge.head];
    const chain = [nodes[from]],
      end = 2 * level[to];
    for (let rank = 2 * level[from] + 1; rank < end; rank++) {
      const told = rank === end - 1 && edge.w > 0;
      chain.push(
        add(rank, { edge: at, label: told, l: 5, r: told ? edge.w + 6 : 5, h: told ? LABEL : 0, weight: told ? 2 : 6 }),
      );
    }
    chain.push(nodes[to]);
    for (let i = 1; i < chain.length; i++) {
      chain[i - 1].down.push(chain[i]);
      chain[i].up.push(chain[i - 1]);
    }
    return { chain, turned };
  });
  for (let rank = 0; rank < ranks.length; rank++) ranks[rank] ||= [];
  return { ranks, nodes, chains };
}

const number = ranks =>
  ranks.forEach(rank =>
    rank.forEach((point, at) => {
      point.at = at;
    }),
  );

function crossings(ranks) {
  let sum = 0;
  for (const rank of ranks) {
    const heads = rank.flatMap(point => point.down.map(one => one.at).sort((a, b) => a - b));
    for (let i = 0; i < heads.length; i++) for (let j = i + 1; j < heads.length; j++) if (heads[i] > heads[j]) sum++;
  }
  return sum;
}

/** Orders within layers that cross little: each point to the middle of its neighbours, down and up again. */
function ordered(ranks) {
  number(ranks);
  let best = ranks.map(rank => [...rank]),
    least = crossings(ranks);
  for (let sweep = 0; sweep < SWEEPS && least; sweep++) {
    const downward = sweep % 2 === 0,
      turn = downward ? ranks.keys() : [...ranks.keys()].reverse();
    for (const at of turn) {
      for (const point of ranks[at]) {
        const near = downward ? point.up : point.down;
        point.middle = near.length ? near.reduce((sum, one) => sum + one.at, 0) / near.length : point.at;
      }
      ranks[at]
        .sort((a, b) => a.middle - b.middle || a.at - b.at)
        .forEach((point, place) => {
          point.at = place;
        });
    }
    const now = crossings(ranks);
    if (now < least) {
      least = now;
      best = ranks.map(rank => [...rank]);
    }
  }
  best.forEach((rank, at) => {
    ranks[at] = rank;
  });
  number(ranks);
}

/** Places of one layer, as near to those wanted as its order allows. */
function settle(rank, wanted) {
  const blocks = [];
  let offset = 0;
  rank.forEach((point, at) => {
    if (at) offset += rank[at - 1].r + point.l + (point.box === undefined && rank[at - 1].box === undefined ? 6 : GAP);
    point.offset = offset;
    blocks.push({ sum: (wanted[at] - offset) * point.weight, weight: point.weight, size: 1 });
    while (blocks.length > 1 && mean(blocks.at(-2)) > mean(blocks.at(-1))) {
      const last = blocks.pop(),
        before = blocks.at(-1);
      before.sum += last.sum;
      before.weight += last.weight;
      before.size += last.size;
    }
  });
  let at = 0;
  for (const block of blocks) for (let i = 0; i < block.size; i++, at++) rank[at].x = mean(block) + rank[at].offset;
}
const mean = block => block.sum / block.weight;

/** Where arrows leave a box or reach it: right below or above their next points where the box is wide enough. */
function ports(point, side) {
  const near = [...point[side]].sort((a, b) => a.x - b.x),
    from = point.x - point.l + 10,
    to = point.x + point.r - 10;
  const room = Math.min((to - from) / Math.max(1, near.length - 1), 18),
    spots = near.map(one => Math.min(Math.max(one.x, from), to));
  for (let at = 1; at < spots.length; at++) spots[at] = Math.max(spots[at], spots[at - 1] + room);
  for (let at = spots.length - 1, most = to; at >= 0; at--, most -= room) spots[at] = Math.min(spots[at], most);
  return new Map(near.map((one, at) => [one, spots[at]]));
}

function placed(ranks) {
  for (const rank of ranks)
    settle(
      rank,
      rank.map(() => 0),
    );
  const pull = (rank, sides) =>
    settle(
      rank,
      rank.map(point => {
        const near = sides.flatMap(side => point[side].map(one => one.x));
        return near.length ? near.reduce((a, b) => a + b) / near.length : point.x;
      }),
    );
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const rank of ranks) pull(rank, ["up"]);
    for (const rank of [...ranks].reverse()) pull(rank, ["down"]);
  }
  for (const rank of ranks) pull(rank, ["up", "down"]);
}

/** Heights: each layer as tall as its tallest; layers without labels are only a gap. */
function levelled(ranks) {
  let y = 0;
  return ranks.map(rank => {
    const height = Math.max(0, ...rank.map(point => point.h)),
      top = y;
    y += height + RISE;
    return { top, bottom: top + height };
  });
}

const bend = (x0, y0, x1, y1) => {
  const middle = (y0 + y1) / 2;
  return Math.abs(x0 - x1) < 0.5
    ? `L${round(x1)} ${round(y1)}`
    : `C${round(x0)} ${round(middle)} ${round(x1)} ${round(middle)} ${round(x1)} ${round(y1)}`;
};
const round = n => Math.round(n * 10) / 10;

/** The line of an arrow through the rooms of its points. */
function lineOf(chain, levels, outs, ins) {
  const from = chain[0],
    to = chain.at(-1),
    start = outs.get(chain[1]),
    y = levels[from.rank].top + from.h;
  let line = `M${round(start)} ${round(y)}`,
    x = start,
    below = levels[from.rank].bottom;
  if (below > y) line += `L${round(x)} ${round(below)}`;
  for (const point of chain.slice(1, -1)) {
    line += bend(x, below, point.x, levels[point.rank].top) + `L${round(point.x)} ${round(levels[point.rank].bottom)}`;
    x = point.x;
    below = levels[point.rank].bottom;
  }
  const end = ins.get(chain.at(-2)),
    top = levels[to.rank].top;
  return { line: line + bend(x, below, end, top), start: [start, y], end: [end, top] };
}

/** Boxes without arrows in rows, below the others. */
function rowsOfAlone(boxes, alone, across, top) {
  const spots = [],
    columns = Math.min(ALONE, alone.length);
  let x = 0,
    y = top,
    height = 0,
    inRow = 0,
    width = 0;
  for (const at of alone) {
    if (inRow && (inRow === columns || x + boxes[at].w > across)) {
      y += height + RISE;
      x = 0;
      height = 0;
      inRow = 0;
    }
    spots.push({ at, x, y });
    x += boxes[at].w + GAP;
    width = Math.max(width, x - GAP);
    height = Math.max(height, boxes[at].h);
    inRow++;
  }
  return { spots, width, height: alone.length ? y + height : top };
}

/**
 * Places for boxes and lines for arrows.
 * @param boxes each with w and h; @param edges each with tail, head and w, the width of its label;
 * @param across the width that rows of boxes without arrows may take.
 */
function layout(boxes, edges, across) {
  const joined = new Set(edges.filter(one => one.tail !== one.head).flatMap(one => [one.tail, one.head]));
  const alone = [...boxes.keys()].filter(at => !joined.has(at)),
    apart = joined.size === 0 || alone.length > ALONE;
  const given = boxes.map((box, at) => ({ ...box, skip: apart && !joined.has(at) }));
  const { level, order } = layersOf(boxes.length, edges);
  const { ranks, nodes, chains } = pointsOf(given, edges, level, order);
  ordered(ranks);
  placed(ranks);
  const levels = levelled(ranks),
    spots = new Array(boxes.length);
  const left = Math.min(0, ...ranks.flat().map(point => point.x - point.l));
  for (const rank of ranks) for (const point of rank) point.x -= left;
  let width = Math.max(0, ...ranks.flat().map(point => point.x + point.r)),
    height = levels.length ? levels.at(-1).bottom : 0;
  nodes.forEach((point, at) => {
    if (point) spots[at] = { x: point.x - point.l, y: levels[point.rank].top };
  });
  if (apart) {
    const rows = rowsOfAlone(boxes, alone, Math.max(across, width), height ? height + 2 * RISE : 0);
    for (const { at, x, y } of rows.spots) spots[at] = { x, y };
    width = Math.max(width, rows.width);
    height = rows.height;
  }
  const outs = nodes.map(point => point && ports(point, "down")),
    ins = nodes.map(point => point && ports(point, "up"));
  const lines = chains.map(found => {
    if (!found) return null;
    const { chain, turned } = found,
      label = chain.find(point => point.label);
    return {
      ...lineOf(chain, levels, outs[chain[0].box], ins[chain.at(-1).box]),
      turned,
      label: label ? { x: label.x + 5, y: levels[label.rank].top + 11 } : null,
    };
  });
  return { spots, lines, width, height };
}
