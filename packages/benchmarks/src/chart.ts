import { figuresOf, type Result } from './report.ts';

const ROW = 26;
const WIDTH = 860;
const EDGE = 24;
/** Pixels of a character at 14 px, rather too many than too few. */
const CHARACTER = 8;
/** Room for the figure to the right of the longest bar. */
const FIGURE = 56;

/** The first figures of a question as bars, an SVG for both color schemes. The first contender is 1. */
export function chart(result: Result): string {
  const costs = Object.entries(figuresOf(result).costs).map(
    ([name, row]) => [name, Object.values(row)[0]?.median ?? NaN] as const,
  );
  const [[base, unit]] = costs as [(typeof costs)[number]];
  const left = EDGE + Math.max(...costs.map(([name]) => name.length)) * CHARACTER;
  const scale = (WIDTH - left - FIGURE) / Math.max(...costs.map(([, value]) => value / unit));
  const bars = costs.map(([name, value], index) =>
    bar(name, value / unit, { left, scale, y: 84 + index * ROW }),
  );
  const height = 84 + costs.length * ROW + EDGE;
  const title = `CPU time of ${result.title} (${base} = 1)`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${String(WIDTH)} ${String(height)}" font-family="system-ui, sans-serif" font-size="14" role="img" aria-label="${title}">
<style>
  .page { fill: #ffffff } text { fill: #1f2328 } .note { fill: #59636e }
  .none { fill: #afb8c1 } .peer { fill: #d4a72c } .ours { fill: #1a7f37 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #161b22 } text { fill: #e6edf3 } .note { fill: #9198a1 }
    .none { fill: #57606a } .peer { fill: #bb8009 } .ours { fill: #2ea043 }
  }
</style>
<rect class="page" width="${String(WIDTH)}" height="${String(height)}" rx="10"/>
<text x="${String(EDGE)}" y="38" font-size="18" font-weight="600">${title}</text>
<text x="${String(EDGE)}" y="62" class="note">Less is better. Gray: without verification</text>
${bars.join('\n')}
</svg>
`;
}

function bar(
  name: string,
  value: number,
  { left, scale, y }: { left: number; scale: number; y: number },
): string {
  const kind = name.endsWith('call-webhooks') ? 'ours' : name.includes(' + ') ? 'peer' : 'none';
  const baseline = String(y + 14);
  const length = value * scale;
  return `<text x="${String(left - 12)}" y="${baseline}" text-anchor="end">${name}</text>
<rect class="${kind}" x="${String(left)}" y="${String(y)}" width="${length.toFixed(1)}" height="18" rx="3"/>
<text x="${(left + length + 8).toFixed(1)}" y="${baseline}">${value.toFixed(2)}</text>`;
}
