import { isBefore } from '../contenders.ts';
import type { Round } from '../rounds.ts';
import { ratio } from './statistics.ts';

const ROW = 26;
const LEFT = 290;
const WIDTH = 860;
const BASE = 'node bare';
const TITLE = 'CPU time of one delivery';
const SUBTITLE = 'as a multiple of bare node:http; 1 KB, keep-alive. Grey bars verify nothing.';

/** The HTTP contenders as bars, shortest first within each framework: an SVG for both colour schemes. */
export function chart(rounds: readonly Round[]): string {
  const names = Object.keys(rounds[0] ?? {}).filter((name) => !isBefore(name));
  const all = names.map((name) => ({
    name,
    value: ratio(rounds, name, BASE).median,
  }));
  const groups = ['node', 'fastify', 'express'].map((framework) =>
    all.filter(({ name }) => name.startsWith(framework)).sort((a, b) => a.value - b.value),
  );
  const scale = (WIDTH - LEFT - 70) / Math.max(...all.map(({ value }) => value));
  let y = 74;
  const bars = groups.flatMap((group) => {
    const drawn = group.map(({ name, value }) => bar(name, value, value * scale, (y += ROW)));
    y += 10;
    return drawn;
  });
  const height = y + 34;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="14" role="img" aria-label="${TITLE}, ${SUBTITLE}">
<style>
  .page { fill: #ffffff } text { fill: #1f2328 } .soft { fill: #59636e }
  .bare { fill: #afb8c1 } .peer { fill: #d4a72c } .ours { fill: #1a7f37 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #161b22 } text { fill: #e6edf3 } .soft { fill: #9198a1 }
    .bare { fill: #57606a } .peer { fill: #bb8009 } .ours { fill: #2ea043 }
  }
</style>
<rect class="page" width="${WIDTH}" height="${height}" rx="10"/>
<text x="24" y="38" font-size="18" font-weight="600">${TITLE}</text>
<text x="24" y="62" class="soft">${SUBTITLE}</text>
${bars.join('\n')}
</svg>
`;
}

function bar(name: string, value: number, length: number, y: number): string {
  const ours = name.endsWith('call-webhooks');
  const kind = ours ? 'ours' : /standard|octokit/.test(name) ? 'peer' : 'bare';
  const weight = ours ? ' font-weight="600"' : '';
  return `<text x="${LEFT - 12}" y="${y + 14}" text-anchor="end"${weight}>${name}</text>
<rect class="${kind}" x="${LEFT}" y="${y}" width="${length.toFixed(1)}" height="18" rx="3"/>
<text x="${(LEFT + length + 8).toFixed(1)}" y="${y + 14}"${weight}>${value.toFixed(2)}</text>`;
}
