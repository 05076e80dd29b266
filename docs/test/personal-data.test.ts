import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { collectingLogger, runSample } from '@call-webhooks/contract-tests';
import { createReceiver, generateSecret } from '@call-webhooks/core';

it('the sample of docs/personal-data.md erases, and leaves a line about it', async () => {
  const sample = runSample({
    ...{ test: import.meta.url, document: '../personal-data.md', block: 2 },
    replace: { "'calls.db'": "':memory:'" },
  });
  await sample.printed('call-webhooks: ops@example.com erased nothing.');
  await sample.printed('deadLetters: 0');
  await sample.printed('started');
  await sample.end();
});

const PAGE = readFileSync(new URL('../personal-data.md', import.meta.url), 'utf8');
/** The delivery that the examples of the page are about. */
const EVENT = {
  ...{ eventName: 'call:completed', callId: 'c1' },
  calledName: 'Ada Lovelace',
  calledNumber: '+49 171 5550123',
  calledEmail: 'ada@example.com',
  note: 'called back at noon',
};
const FIELDS = {
  ...{ calledName: 'calledName', calledNumber: 'calledNumber', calledEmail: 'calledEmail' },
};

/** The rows of a table after a comment of the page: what is thrown, and what the log line has. */
function examples(comment: string): [thrown: string, logged: string][] {
  const table = PAGE.split(`<!-- ${comment} -->`)[1]?.split(/\n(?![|\n])/)[0] ?? '';
  return [...table.matchAll(/^\| `([^`]+)` +\| `([^`]+)`/gm)].map(
    ([, thrown = '', logged = '']) => [thrown, logged],
  );
}

describe.each(['redacted', 'missed'])('what is %s', (comment) => {
  it('has examples', () => {
    expect(examples(comment).length).toBeGreaterThan(1);
  });

  it.each(examples(comment))('%s', async (thrown, logged) => {
    const logger = collectingLogger();
    const receiver = createReceiver({
      ...{ secret: generateSecret(), logger, fieldNames: FIELDS },
      on: {
        'call:completed': () => {
          throw new Error(thrown);
        },
      },
    });
    await receiver.deliver(EVENT);
    await receiver.close();
    const line = logger.lines.find((text) => text.includes('handler')) ?? '';
    expect(line).toContain(`Error: ${logged}`);
    if (comment === 'redacted') expect(line).not.toMatch(/lovelace|5550123|ada@|noon/i);
  });
});
