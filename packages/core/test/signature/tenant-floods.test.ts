import { describe, expect, it, jest } from '@jest/globals';
import { useLateClock } from '../late-clock.ts';
import { OTHER_SECRET } from '../support.ts';
import { EVENT, names, tenants } from './tenants.ts';

useLateClock();

describe('a flood of made-up names', () => {
  it('does not shut out tenants that are known, nor make them be asked for again', async () => {
    const { asked, flood, send } = tenants();
    for (const name of names('real', 50)) expect(await send(name, EVENT)).toBe('ignored');
    for (let round = 0; round < 3; round++) await flood(names(`made-up-${String(round)}`, 1_000));
    asked.mockClear();
    for (const name of names('real', 50)) expect(await send(name, EVENT)).toBe('ignored');
    expect(asked).not.toHaveBeenCalled();
  });

  it('does not keep a new tenant out', async () => {
    const { flood, send } = tenants();
    await flood(names('made-up', 1_000));
    expect(await send('real-a', EVENT)).toBe('ignored');
  });

  it('of a provider that hangs asks for 1,000 at a time, and answers known and unknown names alike', async () => {
    const { asked, flood, send } = tenants();
    expect(await send('real-a', EVENT)).toBe('ignored');
    asked.mockImplementation(() => new Promise<string>(() => undefined));
    asked.mockClear();
    const flooded = flood(names('made-up', 1_200));
    const stranger = send('stranger', EVENT, { secret: OTHER_SECRET });
    expect(await stranger).toBe('signature-mismatch');
    expect(asked).toHaveBeenCalledTimes(1_000);
    expect(await send('real-a', EVENT)).toBe('ignored');
    await jest.advanceTimersByTimeAsync(4_001);
    expect(await flooded).toEqual(new Set(['signature-mismatch', 'secret-unavailable']));
  });
});
