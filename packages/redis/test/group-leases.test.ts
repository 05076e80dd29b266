import { describe, expect, it, jest } from '@jest/globals';
import { GROUP_IS_ELSEWHERE } from '../src/event-script.ts';
import { GroupLeases } from '../src/group-leases.ts';

const GROUP = 'p:{call}:group';

/** Group leases on a node that replies so, call by call, and then with 1. */
function leasesOn(...replies: unknown[]) {
  const evalsha = jest.fn((_sha: string, _keys: string[], _args: string[]) =>
    Promise.resolve(replies.length > 0 ? replies.shift() : 1),
  );
  const groups = new GroupLeases({ evalsha, eval: evalsha });
  /** Keys and arguments of each call. */
  const calls = () => evalsha.mock.calls.map(([, keys, args]) => [keys, args]);
  return { groups, calls, evalsha };
}

/** The script of the event, which replies so, call by call. */
const admitting = (...replies: unknown[]) =>
  jest.fn((_name: string, _state: string) => Promise.resolve(replies.shift()));

describe('a group on the node of its event', () => {
  it('is taken and freed by the scripts of the event', async () => {
    const { groups, calls } = leasesOn();
    const admit = admitting(1);
    expect(await groups.admit(GROUP, 'token', 60_000, admit)).toBe(1);
    expect(admit.mock.calls).toEqual([[GROUP, '']]);
    expect(await groups.free('token', 1)).toBe(true);
    expect(await groups.free('token', 0)).toBe(false);
    expect(await groups.extend('token', 60_000, 1)).toBe(true);
    expect(await groups.extend('token', 60_000, 0)).toBe(false);
    expect(calls()).toEqual([]);
  });
});

describe('a group on another node than its event', () => {
  it('is leased before the event, and for 10 s longer', async () => {
    const { groups, calls } = leasesOn();
    const admit = admitting(GROUP_IS_ELSEWHERE, 1);
    expect(await groups.admit(GROUP, 'token', 60_000, admit)).toBe(1);
    expect(admit.mock.calls).toEqual([
      [GROUP, ''],
      [GROUP, 'held'],
    ]);
    expect(calls()).toEqual([[[GROUP], ['token', '70000']]]);
  });

  it('is asked first from then on', async () => {
    const { groups } = leasesOn();
    await groups.admit(GROUP, 'token', 60_000, admitting(GROUP_IS_ELSEWHERE, 1));
    const admit = admitting(1);
    await groups.admit(GROUP, 'token', 60_000, admit);
    expect(admit.mock.calls).toEqual([[GROUP, 'held']]);
  });

  it('is left to its holder, and the event is told so', async () => {
    const { groups, calls } = leasesOn(0);
    const admit = admitting(GROUP_IS_ELSEWHERE, -4);
    expect(await groups.admit(GROUP, 'token', 60_000, admit)).toBe(-4);
    expect(admit.mock.calls[1]).toEqual([GROUP, 'busy']);
    expect(calls()).toHaveLength(1);
  });

  it.each([0, -1])('is freed if the event is not admitted: %d', async (reply) => {
    const { groups, calls } = leasesOn();
    const admit = admitting(GROUP_IS_ELSEWHERE, reply);
    expect(await groups.admit(GROUP, 'token', 60_000, admit)).toBe(reply);
    expect(calls()[1]).toEqual([[GROUP], ['token']]);
  });

  it('is freed if the call for the event fails', async () => {
    const { groups, calls } = leasesOn();
    const admit = admitting(GROUP_IS_ELSEWHERE).mockImplementationOnce(() =>
      Promise.resolve(GROUP_IS_ELSEWHERE),
    );
    admit.mockRejectedValueOnce(new Error('down'));
    await expect(groups.admit(GROUP, 'token', 60_000, admit)).rejects.toThrow('down');
    expect(calls()[1]).toEqual([[GROUP], ['token']]);
  });

  it('is freed and extended by the name that the script of the event gives', async () => {
    const { groups, calls } = leasesOn();
    expect(await groups.free('token', GROUP)).toBe(true);
    expect(await groups.extend('token', 60_000, GROUP)).toBe(true);
    expect(calls()).toEqual([
      [[GROUP], ['token']],
      [[GROUP], ['token', '70000']],
    ]);
  });

  it('that can not be freed runs out: the event is settled all the same', async () => {
    const { groups, evalsha } = leasesOn(0);
    expect(await groups.free('token', GROUP)).toBe(true);
    evalsha.mockRejectedValueOnce(new Error('down'));
    expect(await groups.free('token', GROUP)).toBe(true);
  });

  it('that is not held any more can not be extended', async () => {
    const { groups, evalsha } = leasesOn(0);
    expect(await groups.extend('token', 60_000, GROUP)).toBe(false);
    evalsha.mockRejectedValueOnce(new Error('down'));
    await expect(groups.extend('token', 60_000, GROUP)).rejects.toThrow('down');
  });

  it.each(['1', '0'])('is not meant by a reply of a text: %s', async (reply) => {
    const { groups, calls } = leasesOn();
    expect(await groups.free('token', reply)).toBe(reply === '1');
    expect(await groups.extend('token', 60_000, reply)).toBe(reply === '1');
    expect(calls()).toEqual([]);
  });
});
