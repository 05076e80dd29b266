import { isBefore } from '../contenders.ts';
import type { Round } from '../rounds.ts';
import type { Parts } from './figures.ts';
import { ratio } from './statistics.ts';

const ROW = 26;
const LEFT = 290;
const WIDTH = 860;
const BASE = 'node bare';
const TITLE = 'CPU time of one delivery';
/** Bars of the second chart end here; their figures do not. */
const LONGEST = 4;
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
  return page(TITLE, SUBTITLE, bars, y + 34);
}

/** Stores, hand-off to queues and workers, each per second against its floor. */
export function floorsChart(parts: Parts): string | undefined {
  const groups = (['stores', 'queues', 'workers'] as const).map((part) => {
    const rounds = parts[part] ?? [];
    const names = Object.keys(rounds[0] ?? {});
    return names
      .filter((name) => names.includes(`${name} floor`))
      .map((name) => ({
        name: `${part}: ${name}`,
        value: ratio(rounds, `${name} floor`, name).median,
      }));
  });
  if (groups.every((group) => group.length === 0)) return undefined;
  const scale = (WIDTH - LEFT - 70) / LONGEST;
  let y = 74;
  const bars = groups.flatMap((group) => {
    const drawn = group.map(({ name, value }) =>
      bar(name, value, Math.min(value, LONGEST) * scale, (y += ROW), true),
    );
    y += 10;
    return drawn;
  });
  const subtitle = `as a multiple of bare statements and calls; bars end at ${String(LONGEST)}.`;
  return page('Deliveries and jobs per second', subtitle, bars, y + 34);
}

function page(title: string, subtitle: string, bars: readonly string[], height: number): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="14" role="img" aria-label="${title}, ${subtitle}">
<style>
  .page { fill: #ffffff } text { fill: #1f2328 } .soft { fill: #59636e }
  .bare { fill: #afb8c1 } .peer { fill: #d4a72c } .ours { fill: #1a7f37 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #161b22 } text { fill: #e6edf3 } .soft { fill: #9198a1 }
    .bare { fill: #57606a } .peer { fill: #bb8009 } .ours { fill: #2ea043 }
  }
</style>
<rect class="page" width="${WIDTH}" height="${height}" rx="10"/>
<text x="24" y="38" font-size="18" font-weight="600">${title}</text>
<text x="24" y="62" class="soft">${subtitle}</text>
${bars.join('\n')}
</svg>
`;
}

function bar(
  name: string,
  value: number,
  length: number,
  y: number,
  ours = name.endsWith('call-webhooks'),
): string {
  const kind = ours ? 'ours' : /standard|octokit/.test(name) ? 'peer' : 'bare';
  const weight = ours ? ' font-weight="600"' : '';
  return `<text x="${LEFT - 12}" y="${y + 14}" text-anchor="end"${weight}>${name}</text>
<rect class="${kind}" x="${LEFT}" y="${y}" width="${length.toFixed(1)}" height="18" rx="3"/>
<text x="${(LEFT + length + 8).toFixed(1)}" y="${y + 14}"${weight}>${value.toFixed(2)}</text>`;
}
