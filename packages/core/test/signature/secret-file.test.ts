import { describe, expect, it, jest } from '@jest/globals';
import { parseSecretFile, WebhookError } from '../../src/index.ts';
import { useLateClock } from '../late-clock.ts';
import { createTestReceiver, OTHER_SECRET, SECRET } from '../support.ts';

useLateClock();

const EVENT = { eventName: 'call:completed' };
const UNTIL = '2026-11-21T16:37:51.734Z';
const END = Date.parse(UNTIL);

describe('a secret file', () => {
  it('has one secret per line or several, comments, and variables', () => {
    const content = `\uFEFF# ours\r\n${SECRET} # action a1\r\n\nexport OTHER="${OTHER_SECRET}, ${SECRET}"\n`;
    expect(parseSecretFile(content)).toEqual([SECRET, OTHER_SECRET, SECRET]);
  });

  it('of an app: the variables of other things are ignored', () => {
    const content = `PORT=3000\nSTRIPE=whsec_x\nCALL_WEBHOOK_SECRET=${SECRET}\nRECORDING_WEBHOOK_SECRET=\n`;
    expect(parseSecretFile(content)).toEqual([SECRET]);
  });

  it('an old secret is left out from its time on', () => {
    const content = `${SECRET} # action a1\n${OTHER_SECRET} # action a1 until ${UNTIL}\n`;
    expect(parseSecretFile(content, END - 1)).toEqual([SECRET, OTHER_SECRET]);
    expect(parseSecretFile(content, END)).toEqual([SECRET]);
    // By default, the time is now.
    jest.setSystemTime(END - 1);
    expect(parseSecretFile(content)).toHaveLength(2);
    jest.setSystemTime(END);
    expect(parseSecretFile(content)).toEqual([SECRET]);
  });

  it.each([
    ['2026-11-21', '2026-11-21T00:00Z'],
    ['2026-11-21T16:37', '2026-11-21T16:37Z'],
    ['2026-11-21T16:37+02:00', '2026-11-21T14:37Z'],
    ['2026-11-21T16:37:51+0200,', '2026-11-21T14:37:51Z'],
  ])('without a zone, a time is UTC: %s', (until, meant) => {
    const content = `${SECRET}\n${OTHER_SECRET} # until ${until.replace(',', '')}`;
    expect(parseSecretFile(content, Date.parse(meant) - 1)).toHaveLength(2);
    expect(parseSecretFile(content, Date.parse(meant))).toHaveLength(1);
  });

  it('in a receiver: the old secret is accepted after a rotation, and not after its time', async () => {
    let content = `${OTHER_SECRET} # action a1\n`;
    const { send } = createTestReceiver({ secret: () => parseSecretFile(content) });
    expect(await send(EVENT, { secret: OTHER_SECRET })).toBe('ignored');

    const end = Date.now() + 600_000;
    content = `${SECRET} # action a1\n${OTHER_SECRET} # action a1 until ${new Date(end).toISOString()}\n`;
    expect(await send(EVENT)).toBe('ignored');
    expect(await send(EVENT, { secret: OTHER_SECRET })).toBe('ignored');

    jest.setSystemTime(end);
    await jest.advanceTimersByTimeAsync(300_000); // for which the receiver may use what it has read
    expect(await send(EVENT)).toBe('ignored');
    expect(await send(EVENT, { secret: OTHER_SECRET })).toBe('signature-mismatch');
  });

  it.each([
    ['nothing', '', 'There is no secret in the secret file.'],
    ['comments', `# ${SECRET}\n`, 'There is no secret in the secret file.'],
    ['an empty variable', 'CALL_WEBHOOK_SECRET=\n', 'There is no secret in the secret file.'],
    ['old secrets', `${SECRET} # until 2020-01-02`, 'Every secret in the secret file has expired.'],
    ['a password', `${SECRET}\nhunter2 ${SECRET}`, 'Line 2 of the secret file is not a'],
    ['no end', `${SECRET} # until tomorrow`, 'Line 1 of the secret file has a comment "until"'],
    [
      'an end that is no day',
      `\n${SECRET} # until 2026-02-30`,
      'Line 2 of the secret file has a comment "until"',
    ],
    [
      'an end without a unit',
      `${SECRET} # until: 5`,
      'Line 1 of the secret file has a comment "until"',
    ],
    ['a word', `${SECRET} # old, until`, 'Line 1 of the secret file has a comment "until"'],
  ])('that has %s is refused, and the message has no secret', (_what, content, message) => {
    const parse = () => parseSecretFile(content);
    expect(parse).toThrow(WebhookError);
    expect(parse).toThrow(expect.objectContaining({ code: 'invalid-secret' }));
    expect(parse).toThrow(message);
    expect(parse).not.toThrow(/hunter2|whsec_\w/);
  });
});
