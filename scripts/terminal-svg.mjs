// Draws colored terminal output as an SVG, below the command that was typed:
// script -qefc 'stty cols 80; npm start --silent -- --once' /dev/null < /dev/null |
//   grep -v 'receiver │' | node scripts/terminal-svg.mjs 'npm start' > docs/images/start.svg
import { createInterface } from 'node:readline';

const COLORS = { 2: '#8b949e', 31: '#ff7b72', 32: '#7ee787', 33: '#e3b341', 36: '#79c0ff' };
const LINE = 20;
const CHARACTER = 8.5;
const [typed = ''] = process.argv.slice(2);
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
for await (const line of createInterface({ input: process.stdin }))
  lines.push(line.replaceAll('\r', ''));
while (lines.at(-1) === '') lines.pop();
const height = (lines.length + 3) * LINE;
const longest = Math.max(...lines.map((line) => line.replace(/\u001b\[\d+m/g, '').length));
const width = Math.max(880, Math.ceil(longest * CHARACTER) + 48);
console.log(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14">
<rect width="${width}" height="${height}" rx="10" fill="#161b22"/>
<text x="24" y="${1.6 * LINE}" fill="#8b949e" xml:space="preserve">$ ${escape(typed)}</text>
${lines.map((line, index) => `<text x="24" y="${(index + 3) * LINE}" fill="#e6edf3" xml:space="preserve">${spans(line)}</text>`).join('\n')}
</svg>`);
