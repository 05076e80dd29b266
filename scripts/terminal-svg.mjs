// Draws colored terminal output as an SVG for the README:
// script -qefc 'stty cols 80; npm start --silent' /dev/null < /dev/null |
//   node scripts/terminal-svg.mjs --until 'Press Ctrl+C' > docs/images/start.svg
// The argument is the typed command; the default is `npm start`. `--until` stops after a line with this text.
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const COLORS = { 2: '#8b949e', 31: '#ff7b72', 32: '#7ee787', 33: '#e3b341', 36: '#79c0ff' };
const LINE = 20;
const CHARACTER = 8.5;
const { values, positionals } = parseArgs({
  options: { until: { type: 'string' } },
  allowPositionals: true,
});
const [typed = 'npm start'] = positionals;
const escape = (plain) => plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function spans(line) {
  let style = '';
  return line
    .split(/(\u001b\[\d+m)/)
    .map((part) => {
      const code = /^\u001b\[(\d+)m$/.exec(part)?.[1];
      if (code === undefined) return part === '' ? '' : `<tspan${style}>${escape(part)}</tspan>`;
      style = COLORS[code] ? ` fill="${COLORS[code]}"` : code === '1' ? ' font-weight="bold"' : '';
      return '';
    })
    .join('');
}

const lines = [];
for await (const line of createInterface({ input: process.stdin })) {
  lines.push(line.replaceAll('\r', ''));
  if (values.until !== undefined && line.includes(values.until)) break;
}
process.stdin.destroy();
while (lines.at(-1) === '') lines.pop();
const height = (lines.length + 3) * LINE;
const longest = Math.max(...lines.map((line) => line.replace(/\u001b\[\d+m/g, '').length));
const width = Math.max(880, Math.ceil(longest * CHARACTER) + 48);
console.log(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14">
<rect width="${width}" height="${height}" rx="10" fill="#161b22"/>
<text x="24" y="${1.6 * LINE}" fill="#8b949e" xml:space="preserve">$ ${escape(typed)}</text>
${lines.map((line, index) => `<text x="24" y="${(index + 3) * LINE}" fill="#e6edf3" xml:space="preserve">${spans(line)}</text>`).join('\n')}
</svg>`);
