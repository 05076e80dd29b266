import { expect, test } from '@jest/globals';
import { startSimulator, type SimulatorOptions } from '@call-webhooks/simulator';
import { testResources } from './support/test-resources.ts';

const open = testResources();

test.each<[SimulatorOptions, string]>([
  [{ port: 70_000 }, 'port'],
  [{ clock: 'fast' as never }, 'clock'],
  [{ maxAttempts: 0 }, 'maxAttempts'],
  [{ retryJitter: 2 }, 'retryJitter'],
  [{ retryEvery: 'soon' }, 'duration'],
  [{ chaos: { replay: 7 } }, 'replay'],
  [{ chaos: { earthquake: 1 } as never }, 'chaos mode'],
  [{ fieldNames: { colour: 'red' } as never }, 'fieldNames'],
  [{ headerPrefix: 'X Service' }, 'headerPrefix'],
  [{ extraHeaders: { 'X-Note': 'two\nlines' } }, 'extraHeaders'],
  [{ workspace: { _id: 'w', users: [], teams: [], templates: [], sequences: [] } }, 'one user'],
])('%j is refused at the start', async (options, named) => {
  const starting = startSimulator(options);
  await expect(starting).rejects.toMatchObject({ code: 'invalid-input' });
  await expect(starting).rejects.toThrow(named);
});

test.each(['whsec_', 'whsec_c2hvcnQ=', 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAA', 'secret'])(
  'a secret that no receiver takes is refused: %s',
  async (secret) => {
    const { rules } = await open.simulator();
    expect(() => rules.forwardTo('http://127.0.0.1:9/', { secret })).toThrow('signing secret');
    expect(rules.list()).toEqual([]);
  },
);

test('the recording webhook has one URL, and a secret of its own that a new URL keeps', async () => {
  const { rules, secrets } = await open.simulator();
  const { _id, actions } = rules.setRecordingWebhook({ url: 'http://127.0.0.1:9/a' });
  const secret = secrets.get(actions[0]!._id);
  expect(() => rules.addAction(_id, { url: 'http://127.0.0.1:9/b' })).toThrow('has one URL');
  const moved = rules.setRecordingWebhook({ url: 'http://127.0.0.1:9/b' });
  expect(moved).toMatchObject({ _id, actions: [{ url: 'http://127.0.0.1:9/b' }] });
  expect(secrets.get(moved.actions[0]!._id)).toEqual(secret);
});
