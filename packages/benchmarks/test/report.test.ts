import { describe, expect, it } from '@jest/globals';
import { benchOptions } from '../src/options.ts';
import { chart, floorsChart } from '../src/report/chart.ts';
import { withFigures } from '../src/report/docs.ts';
import { BEFORE_GOALS, figures, GOALS, resultOf } from '../src/report/figures.ts';
import { measuredSections, SECTIONS } from '../src/report/sections.ts';
import { median, ratio, spread } from '../src/report/statistics.ts';
import { costTable, figureTable, sectionTable } from '../src/report/tables.ts';
import { runRounds, shuffled } from '../src/rounds.ts';

describe('ratios', () => {
  it.each([
    [[3], 3],
    [[4, 1, 3], 3],
    [[4, 1, 3, 2], 2.5],
    [[], NaN],
  ])('the median of %j is %p', (values, expected) => {
    expect(median(values)).toBe(expected);
  });

  it('gives the middle half as well', () => {
    expect(spread([5, 1, 4, 2, 3])).toEqual({ median: 3, low: 2, high: 4 });
  });

  it('are taken within a round, so that a slow round changes nothing', () => {
    const rounds = [1, 100, 3].map((mood) => ({ a: 2 * mood, b: mood }));
    expect(ratio(rounds, 'a', 'b')).toEqual({ median: 2, low: 2, high: 2 });
  });
});

describe('rounds', () => {
  it('give each runner one turn, and leave warm-ups out', async () => {
    let cost = 0;
    const runner = { turn: () => Promise.resolve(++cost), stop: () => Promise.resolve() };
    const rounds = await runRounds({ a: runner, b: runner }, { rounds: 2, warmUps: 1 });
    expect(rounds.map(({ a, b }) => [a, b].sort())).toEqual([
      [3, 4],
      [5, 6],
    ]);
    expect(Object.keys(rounds[0]!)).toEqual(['a', 'b']);
  });

  it('are shuffled, and nobody gets lost', () => {
    expect(shuffled([1, 2, 3, 4], () => 0)).toEqual([2, 3, 4, 1]);
    expect(shuffled([1, 2, 3, 4]).sort()).toEqual([1, 2, 3, 4]);
  });
});

describe('figures', () => {
  it.each([
    [1.8, 'least', 'aim'],
    [1.7, 'least', 'aim'],
    [1.2, 'least', 'bar'],
    [0.9, 'least', 'missed'],
    [0.9, 'most', 'aim'],
    [1.2, 'most', 'bar'],
    [1.8, 'most', 'missed'],
  ] as const)('%p where at %s 1 to 1.7 is wanted: %s', (value, want, expected) => {
    const marks = want === 'least' ? { bar: 1, aim: 1.7 } : { bar: 1.7, aim: 1 };
    expect(resultOf(value, { want, ...marks })).toBe(expected);
  });

  it('are those that the run has contenders for', () => {
    const rounds = [{ 'node bare': 10, 'node + call-webhooks': 15 }];
    expect(figures({ http: rounds })).toMatchObject([
      { name: 'node handler ÷ bare node:http', ratio: { median: 1.5 }, result: 'aim' },
    ]);
    expect(GOALS).toHaveLength(23);
  });

  it('are shown in tables and in the chart', () => {
    const rounds = [{ 'node bare': 10, 'node + call-webhooks': 15, 'express + octokit': 60 }];
    expect(costTable('http', rounds)).toContain('1.50 (1.50–1.50)');
    expect(figureTable('figure', figures({ http: rounds }))).toContain('≤ 1.8');
    const svg = chart(rounds);
    expect(svg).toContain('>node + call-webhooks</text>');
    expect(svg.match(/<rect class="(bare|ours|peer)"/g)).toHaveLength(3);
  });
});

describe('sections', () => {
  const parts = {
    queues: [{ 'bullmq enqueue': 20, 'bullmq floor': 10, 'sqlite enqueue': 1 }],
    queuesCpu: [{ 'bullmq enqueue': 30, 'bullmq floor': 10, 'sqlite enqueue': 1 }],
  };

  it('have the rows that were measured, with jobs per second and CPU time', () => {
    const [section, ...others] = measuredSections({ parts, bytesPerEvent: {} });
    expect(others).toEqual([]);
    expect(section).toMatchObject({
      name: 'queues',
      rows: [{ name: 'BullMQ: enqueue', cells: ['0.50 (0.50–0.50)', '3.00 (3.00–3.00)'] }],
    });
    expect(sectionTable(section!)).toContain('0.50 (0.50–0.50)');
  });

  it('have the bytes of an event in the fullest store, and leave out what was not measured', () => {
    const events = [{ 'redis 10000': 10, 'redis 100000': 12 }];
    const bytesPerEvent = { 'redis 10000': 490.4, 'redis 100000': 470.4 };
    const [section] = measuredSections({ parts: { events }, bytesPerEvent });
    expect(section!.head).toEqual(expect.arrayContaining(['1e5 ÷ 1e4', '1e7 ÷ 1e4']));
    expect(section!.rows).toEqual([
      { name: 'Redis', cells: ['1.20 (1.20–1.20)', '–', '–', '470'] },
    ]);
  });

  it('compare several processes with one by deliveries per second', () => {
    const processes = [{ 'redis 1': 30, 'redis 2': 20, 'redis 4': 15, 'redis 8': 15 }];
    const [section] = measuredSections({ parts: { processes }, bytesPerEvent: {} });
    const cells = ['1.50 (1.50–1.50)', '2.00 (2.00–2.00)', '2.00 (2.00–2.00)'];
    expect(section!.rows).toEqual([{ name: 'Redis', cells }]);
  });

  it('have a cell for each column', () => {
    for (const { head, rows } of SECTIONS)
      for (const { cells } of rows) expect(cells).toHaveLength(head.length - 1);
  });

  it('are drawn against their floors, in bars that end at 4', () => {
    expect(floorsChart({})).toBeUndefined();
    const svg = floorsChart({
      stores: [{ redis: 2, 'redis floor': 1, sqlite: 1, 'sqlite floor': 16 }],
    });
    const widths = [...svg!.matchAll(/<rect class="ours".*?width="([\d.]+)"/g)].map(
      ([, width]) => width,
    );
    expect(widths).toEqual(['62.5', '500.0']);
    expect(svg).toContain('>16.00</text>');
  });

  it('go into the page between markers of their own', () => {
    const machine = { cpu: 'A processor', cores: 2, node: 'v20.1.0' };
    const markers = (name: string) => `<!-- begin: ${name} -->\n<!-- end: ${name} -->\n`;
    const page =
      markers('figures') + markers('queues') + markers('workers') + markers('floors chart');
    const written = withFigures(page, {
      machine,
      parts: { ...parts, workers: [{ bullmq: 20, 'bullmq floor': 10 }] },
      memory: {},
      bytesPerEvent: {},
    });
    expect(written).toContain('(images/performance-floors.svg)');
    expect(written).toContain('| BullMQ: enqueue | 0.50 (0.50–0.50) | 3.00 (3.00–3.00) |');
  });
});

describe('the page', () => {
  const page = `# P
<!-- begin: figures -->
old
<!-- end: figures -->
<!-- begin: before and after -->
<!-- end: before and after -->
`;
  const results = {
    machine: { cpu: 'A processor', cores: 2, node: 'v20.1.0' },
    parts: {
      http: [{ 'node bare': 10, 'node + call-webhooks': 15, 'node + call-webhooks, before': 30 }],
    },
    memory: {},
    bytesPerEvent: {},
  };

  it('gets its tables between the markers, as often as one likes', () => {
    const written = withFigures(page, results);
    expect(written).toContain('1 rounds, Node 20.1.0, 2 cores of A processor.');
    expect(written).toContain('| node handler ÷ bare node:http | 1.50 (1.50–1.50) | ≤ 2.2 |');
    expect(written).toContain('| node handler | 0.50 (0.50–0.50) | ≤ 1.12 | ≤ 1 | aim reached |');
    expect(written).not.toContain('old');
    expect(withFigures(written, results)).toBe(written);
    expect(figures(results.parts, BEFORE_GOALS)).toHaveLength(1);
  });

  it('must have its markers', () => {
    expect(() => withFigures('# P', results)).toThrow('<!-- begin: figures -->');
  });
});

describe('options', () => {
  it('have defaults, and are checked', () => {
    expect(benchOptions([])).toMatchObject({ rounds: 15, connections: 32, quick: false });
    expect(benchOptions(['--quick', '--only', 'http'])).toMatchObject({ rounds: 3, only: 'http' });
    expect(benchOptions(['--connections', '1'])).toMatchObject({ connections: 1 });
    expect(benchOptions(['-h'])).toBe('help');
    expect(() => benchOptions(['--rounds', '0'])).toThrow('--rounds');
    expect(() => benchOptions(['--connections', 'many'])).toThrow('--connections');
    expect(benchOptions([])).toMatchObject({ events: 1_000_000 });
    expect(benchOptions(['--quick'])).toMatchObject({ events: 100_000 });
    expect(benchOptions(['--events', '10000000'])).toMatchObject({ events: 10_000_000 });
    expect(() => benchOptions(['--events', '12'])).toThrow('--events');
    expect(() => benchOptions(['--nonsense'])).toThrow('--nonsense');
    expect(() => benchOptions(['--before', '/nowhere'])).toThrow('is not a built checkout');
  });
});
