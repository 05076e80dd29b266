import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { chart } from '../src/chart.ts';
import { benchOptions } from '../src/options.ts';
import { spread, tables } from '../src/report.ts';
import { runRounds } from '../src/rounds.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const LOADER = ['--import', 'tsx', '--conditions=@call-webhooks/source'];

/** As `npm run bench` does, from sources. */
const bench = (...args: string[]) =>
  promisify(execFile)(process.execPath, [...LOADER, MAIN, ...args], { maxBuffer: 10_000_000 });

describe('the command', () => {
  it('fails where a question is unknown, and shows how it is used', async () => {
    await expect(bench('nonsense')).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /There is no question nonsense\.[^]*npm run bench -- http --only/,
      ),
    });
  });

  it('measures contenders in processes of their own', async () => {
    const { stdout } = await bench('http', '--only', 'node', '--quick', '--json');
    const { results } = JSON.parse(stdout) as {
      results: { http: { costs: Record<string, object>; ratios: object } };
    };
    expect(results.http.costs).toMatchObject({
      'node bare': { 'CPU µs, connections: 1': { median: expect.any(Number) } },
      'node + call-webhooks': { 'CPU µs, connections: 16': { median: expect.any(Number) } },
    });
    expect(Object.keys(results.http.ratios)).toEqual(['node + call-webhooks ÷ node bare']);
  });
});

describe('options', () => {
  it.each([
    [['http', '--rounds', '0'], '--rounds'],
    [['http', '--connections', '1,many'], '--connections'],
    [['http', '--with', '/nowhere'], '/nowhere is not built'],
    [['--nonsense'], '--nonsense'],
  ])('%j are refused', (args, message) => {
    expect(() => benchOptions(args)).toThrow(message);
  });

  it('ask all questions by default, one HTTP connection at a time and sixteen', () => {
    expect(benchOptions([])).toMatchObject({
      questions: [
        'verify',
        'http',
        'stores',
        'remembered-events',
        'removal',
        'failing',
        'import-cost',
      ],
      connections: [1, 16],
      rounds: 15,
    });
  });
});

describe('rounds', () => {
  let cost = 0;
  const stopped: string[] = [];
  const contender = (name: string) => (root: string) => ({
    turn: () => Promise.resolve({ cost: ++cost }),
    stop: () => stopped.push(name + root),
  });
  const question = {
    contenders: { 'a bare': contender('bare'), 'a ours': contender('ours'), b: contender('b') },
    compare: [['a ours', 'a bare']] as const,
    isOurs: (name: string) => name.endsWith('ours'),
    warmUps: 2,
  };

  it('give each contender one turn, and leave warm-ups out', async () => {
    const options = { rounds: 2, quick: false, only: undefined, other: undefined };
    const rounds = await runRounds(question, options);
    const costs = rounds.map((round) => Object.values(round).map((figures) => figures['cost']!));
    expect(costs.map((each) => each.sort((a, b) => a - b))).toEqual([
      [7, 8, 9],
      [10, 11, 12],
    ]);
  });

  it('have the named contenders, what they are compared with, and the other build', async () => {
    stopped.length = 0;
    const options = { rounds: 1, quick: true, only: 'ours', other: '/before' };
    const [round] = await runRounds(question, options);
    expect(Object.keys(round!)).toEqual(['a bare', 'a ours', 'a ours, other build']);
    expect(stopped).toEqual(['bare', 'ours', 'ours/before']);
  });
});

describe('figures', () => {
  it.each([
    [[3], { median: 3, low: 3, high: 3 }],
    [[4, 1, 3, 2], { median: 2.5, low: 1.5, high: 3.5 }],
    [[5, 1, 4, 2, 3], { median: 3, low: 2, high: 4 }],
  ])('of %j are the median and the middle half', (values, expected) => {
    expect(spread(values)).toEqual(expected);
  });

  it('are divided within a round, so that a slow round changes nothing', () => {
    const rounds = [1, 100, 3].map((mood) => ({ ours: { cpu: 2 * mood }, bare: { cpu: mood } }));
    const text = tables({ title: 'one delivery', rounds, compare: [['ours', 'bare']] });
    expect(text).toContain('one delivery (rounds: 3)');
    expect(text).toMatch(/ours ÷ bare +2\.00 \(2\.00–2\.00\)/);
  });
});

it('a chart has a bar for each contender, all within the picture', () => {
  const name = 'express + standardwebhooks + lru';
  const round = {
    'node bare': { CPU: 20 },
    [name]: { CPU: 50 },
    'node + call-webhooks': { CPU: 40 },
  };
  const svg = chart({ title: 'one delivery', rounds: [round], compare: [] });
  const numbers = (pattern: RegExp) => [...svg.matchAll(pattern)].map(([, text]) => Number(text));
  const [left = 0] = numbers(/<rect class="none" x="(\d+)"/g);
  const widths = numbers(/<rect class="(?:none|peer|ours)" x="\d+" y="\d+" width="([\d.]+)"/g);
  expect(widths.map((width) => width / widths[0]!)).toEqual([1, 2.5, 2].map(near));
  expect(left).toBeGreaterThan(name.length * 7);
  expect(left + Math.max(...widths)).toBeLessThan(860);
  expect(left + Math.max(...widths)).toBeGreaterThan(750);
});

const near = (value: number) => expect.closeTo(value, 1) as unknown;
