import { STARTED_AT as START, type testResources } from './test-resources.ts';

/** The seed gives these. */
export const IDS = {
  crm: '7a6f8d599eeed13012bfb001',
  crmAction: 'aa81cc911f830ae0950414fe',
  finished: '758569157ce361603580f099',
  gone: '3048e8414cd2e0ef72ca0200',
  unsigned: 'bfd8144ada8284b4951bf115',
  tapes: '1640f25cc05ac88e8573cfbe',
  tapesAction: 'd10afa621808bb4924bc4ce2',
  call: '55a8908ab228d5f4943993b5',
  message: '8c5e775655ec855abe528c0d',
} as const;
export const ADA = '5f0200000000000000000001';
export const FINISHED = 'A teammate finishes a call';
/** When the call ends, when its recording comes, when the second attempt is made, and what is now. */
export const [END, TAPE, RETRY, NOW] = [
  START + 60_000,
  START + 61_000,
  START + 326_019,
  START + 1_800_000,
];

export const action = (_id: string, path: string, more: object = {}) => ({
  ...{ _id, type: 'webhook', url: `RECEIVER/${path}`, signed: true, ...more },
});
export const CRM = {
  ...{ _id: IDS.crm, kind: 'rule', name: 'To the CRM', trigger: 'call:started', scope: 'user' },
  ...{ ownerId: ADA, state: 'active' },
  actions: [action(IDS.crmAction, 'busy', { payload: { who: '{{calledName}}' } })],
};
export const TEAM = {
  ...{ _id: IDS.finished, kind: 'rule', name: FINISHED, trigger: 'call:completed' },
  ...{ scope: 'workspace', ownerId: ADA, state: 'active' },
  actions: [action(IDS.gone, 'gone'), action(IDS.unsigned, 'old', { signed: false })],
};
export const TAPES = {
  ...{ _id: IDS.tapes, kind: 'recording-webhook', name: 'Call recording webhook' },
  ...{ trigger: 'call:recording-available', scope: 'workspace', ownerId: ADA, state: 'active' },
  actions: [action(IDS.tapesAction, 'tapes')],
};
export const CALL = {
  ...{ _id: IDS.call, state: 'ongoing', placedBy: ADA, calledNumber: '+12025550101' },
  fromPhoneNumber: { number: '+12025550199', label: 'Main line' },
  ...{ calledEmail: 'dana@customer.example', calledName: 'Ida Holm', recorded: true },
  ...{ createdAt: START, dialedAt: START, plannedMs: 60_000 },
};
/** Asks with a token; the addresses and the real milliseconds of each run are left out. */
async function asking(open: ReturnType<typeof testResources>) {
  const simulator = await open.simulator({
    ...{ timestamps: 'clock', baseUrl: 'https://api.example', maxAttempts: 2 },
  });
  const receiver = await open.receiver(({ path }, response) => {
    response.sendDate = false;
    if (path === '/gone') response.writeHead(404).end();
    else if (path === '/busy') response.writeHead(503).end('busy');
    else response.end('{"outcome":"handled"}');
  });
  const address = receiver.url.replace('/hook', '');
  const ask = async (request: string, body?: object) => {
    const [method, path] = request.split(' ') as [string, string];
    const response = await fetch(simulator.url + path, {
      method,
      headers: { 'x-api-token': simulator.apiToken, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body).replaceAll('RECEIVER', address) }),
    });
    const text = (await response.text())
      .replaceAll(address, 'RECEIVER')
      .replaceAll(simulator.url, 'SIMULATOR')
      .replaceAll(/"tookMs":\d+(?:\.\d)?(?=[,}])/g, '"tookMs":0');
    return JSON.parse(text) as unknown;
  };
  return { simulator, ask };
}

/** Three rules, and a call whose events are acknowledged, retried and refused. */
export async function afterCall(open: ReturnType<typeof testResources>) {
  const { simulator, ask } = await asking(open);
  const { trigger, name, actions } = CRM;
  const rules = [
    await ask('POST /_sim/rules', { trigger, name, actions: [given(actions[0]!)] }),
    await ask('POST /_sim/rules', {
      ...{ trigger: 'call:completed', scope: 'workspace' },
      actions: [{ url: 'RECEIVER/gone' }, { url: 'RECEIVER/old', signed: false }],
    }),
    await ask('POST /_sim/recording-webhook', { url: 'RECEIVER/tapes' }),
  ];
  const call = await ask('POST /_sim/calls', { calledName: 'Ida Holm', durationSeconds: 60 });
  await simulator.events.settled();
  const clocks = [await ask('GET /_sim/clock')];
  clocks.push(await ask('POST /_sim/clock/advance', { by: '30m' }));
  return { simulator, ask, rules, call, clocks };
}
const given = ({ url, payload }: { url: string; payload?: unknown }) => ({ url, payload });
