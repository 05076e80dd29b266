import { describe, expect, it } from '@jest/globals';
import { consoleLine } from '../../src/report/logger.ts';

describe('consoleLine', () => {
  it('writes the message, then the fields, then the link', () => {
    expect(consoleLine({ docs: 'https://a.example', n: 3, ok: true, no: undefined }, 'saved')).toBe(
      'saved n=3 ok=true See https://a.example',
    );
    expect(consoleLine({}, 'saved')).toBe('saved');
    expect(consoleLine({ n: 3 }, '')).toBe('n=3');
  });

  it('quotes what is not one word, and keeps line breaks and terminal codes out', () => {
    const line = consoleLine({ a: 'x y', b: 'a\nb\u001b[31m\u009b\u2028é', c: '' }, 'm');
    expect(line).toBe('m a="x y" b="a\\nb\\u001b[31m\\u009b\\u2028é" c=""');
  });

  it('writes objects as JSON, and survives those that cannot be', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    expect(consoleLine({ a: { b: [1] }, cyclic, big: 1n, none: null, fn: Math.max }, 'm')).toMatch(
      /^m a=\{"b":\[1\]\} cyclic=\[object\] big=1 none=null fn=function max/,
    );
    expect(consoleLine({ hidden: { toJSON: () => undefined }, n: 3 }, 'm')).toBe('m hidden= n=3');
  });

  it('writes an error in any field, which JSON would not show', () => {
    expect(consoleLine({ reason: new TypeError('no route') }, 'away')).toBe(
      'away reason="TypeError: no route"',
    );
  });

  it('writes an error whose stack has no frames', () => {
    const err = Object.assign(new Error('no'), { stack: 'Error: no' });
    expect(consoleLine({ err, n: 1 }, 'failed')).toBe('failed: Error: no n=1');
  });

  it('leaves out status and outcome where the message starts with them', () => {
    const fields = { status: 500, outcome: 'handler-failed' };
    expect(consoleLine(fields, 'x: 500 handler-failed: no')).toBe('x: 500 handler-failed: no');
    expect(consoleLine(fields, 'no')).toBe('no status=500 outcome=handler-failed');
  });

  it('adds an error that the message does not have, and its frames below', () => {
    const err = new TypeError('fetch failed');
    const [first, second] = consoleLine({ err, n: 1 }, 'could not save').split('\n');
    expect(first).toBe('could not save: TypeError: fetch failed n=1');
    expect(second).toMatch(/^ +at .*console-line\.test\.ts/);
    expect(consoleLine({ err, n: 1 }, 'no: fetch failed')).toMatch(/^no: fetch failed n=1\n/);
    expect(consoleLine({ err }, '')).toMatch(/^TypeError: fetch failed\n/);
    const wrapped = new Error('no', { cause: new Error('why\nthen') });
    expect(consoleLine({ err: wrapped }, 'no')).toMatch(
      /^no\n +at [^]*\n {2}caused by Error: why then\n +at /,
    );
    const cyclic = new Error('no');
    cyclic.cause = cyclic;
    expect(consoleLine({ err: cyclic }, 'no').split('caused by')).toHaveLength(6);
    expect(consoleLine({ err: 'a text' }, 'no')).toBe('no: "a text"');
    expect(consoleLine({ err: Object.assign(new Error('e'), { stack: undefined }) }, 'no')).toBe(
      'no: Error: e',
    );
  });
});
