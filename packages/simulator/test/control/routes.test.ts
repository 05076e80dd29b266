import { expect, test } from '@jest/globals';
import { testResources } from '../support/test-resources.ts';

const open = testResources();
const HERE = 'http://127.0.0.1:9/';

/** Each route of the control API, in an order in which each succeeds, and the status of its response. */
const ROUTES: readonly (readonly [request: string, status: number, body?: unknown])[] = [
  ['POST /rules', 201, { trigger: 'call:started', actions: [{ url: HERE }] }],
  ['GET /rules', 200],
  ['GET /rules/RULE', 200],
  ['POST /rules/RULE/pause', 200],
  ['POST /rules/RULE/pause', 200],
  ['POST /calls', 201, { recorded: true }],
  ['GET /calls', 200],
  ['GET /calls/CALL', 200],
  ['POST /calls/CALL/end', 200],
  ['POST /calls/CALL/recording', 200],
  ['POST /calls/start', 201],
  ['GET /events', 200],
  ['GET /events/EVENT', 200],
  ['POST /events/settled', 200],
  ['POST /events/EVENT/resend', 201],
  ['POST /events/EVENT/resend', 201, { body: '{}' }],
  ['POST /events/resend-failed', 200],
  ['POST /rules/RULE/resume', 200],
  ['POST /rules/RULE/resume', 200],
  ['POST /rules/RULE/actions', 201, { url: HERE }],
  ['PATCH /rules/RULE/actions/ACTION', 200, { url: HERE }],
  ['POST /rules/RULE/actions/ACTION/rotate', 200],
  ['GET /secrets', 200],
  ['DELETE /rules/RULE/actions/ACTION', 204],
  ['DELETE /rules/RULE', 204],
  ['POST /recording-webhook', 201, { url: HERE }],
  ['POST /forward', 201, { url: HERE }],
  ['POST /messages', 201, { subject: 'Hi', to: 'a@x.example' }],
  ['GET /messages', 200],
  ['GET /messages/MESSAGE', 200],
  ['POST /messages/MESSAGE/activities', 201, { action: 'opened' }],
  ['GET /clock', 200],
  ['POST /clock/advance', 200, { by: 0 }],
  ['POST /clock/next', 200],
  ['POST /clock/run-until-idle', 200],
  ['GET /chaos', 200],
  ['PATCH /chaos', 200, { replay: 0 }],
  ['POST /chaos/clear', 200],
  ['GET /outbox', 200],
  ['GET /outcomes', 200],
  ['GET /api-token', 200],
  ['GET /state', 200],
  ['POST /reset', 200],
  ['POST /close', 202],
];

test('each route responds with its status', async () => {
  const simulator = await open.simulator({ maxAttempts: 1 });
  const ids = {
    RULE: () => simulator.rules.list()[0]!._id,
    ACTION: () => simulator.rules.list()[0]!.actions[0]!._id,
    CALL: () => simulator.calls.list()[0]!._id,
    EVENT: () => simulator.events.list()[0]!._id,
    MESSAGE: () => simulator.messages.list()[0]!._id,
  };
  const answers = [];
  for (const [request, , body] of ROUTES) {
    const [method, path] = request.split(' ') as [string, string];
    const url = path.replace(/[A-Z]+/g, (name) => ids[name as keyof typeof ids]());
    const response = await fetch(`${simulator.url}/_sim${url}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(method !== 'GET' && { body: body === undefined ? '' : JSON.stringify(body) }),
    });
    await response.text();
    answers.push([request, response.status]);
  }
  expect(answers).toEqual(ROUTES.map(([request, status]) => [request, status]));
  await simulator.closed;
});
