import type { FastifyInstance } from 'fastify';
import type { Call, CallInput, PlacedCallInput } from '../calls/call.ts';
import type { ActivityInput, MessageInput } from '../activity/message.ts';
import type { Simulation } from '../simulation.ts';
import { latest, limitOf, type Query } from './delivery-search.ts';
import { parseFields } from './parse-fields.ts';

const CALL = {
  placedBy: 'string',
  fromPhoneNumber: 'object',
  calledNumber: 'string',
  calledEmail: 'string?',
  calledName: 'string?',
  recorded: 'boolean',
} as const;
const PLACED_CALL = { ...CALL, durationSeconds: 'number' } as const;
const MESSAGE = {
  subject: 'string',
  to: 'any',
  cc: 'any',
  bcc: 'any',
  senderId: 'string',
  threadId: 'string',
  templateId: 'string',
  sequenceId: 'string',
} as const;
const ACTIVITY = {
  action: 'string',
  recipientEmail: 'string',
  actionName: 'string',
  device: 'object',
  location: 'object',
  object: 'object',
} as const;

/** Whether a call has a text in its id, name, number or e-mail address. */
const mentions = ({ _id, calledName, calledNumber, calledEmail }: Call, words: string): boolean =>
  [_id, calledName, calledNumber, calledEmail].some((text) => text?.toLowerCase().includes(words));

type One = { Params: { id: string } };

/** Calls and messages. */
export function callRoutes(app: FastifyInstance, { calls, messages }: Simulation): void {
  app.get<{ Querystring: Query }>('/calls', ({ query }) => {
    const { q, limit } = query;
    const words = typeof q === 'string' ? q.trim().toLowerCase() : '';
    const found = calls.list().filter((call) => words === '' || mentions(call, words));
    return limit === undefined ? found : latest(found, limitOf(query));
  });
  app.get<One>('/calls/:id', ({ params }) => calls.get(params.id));
  app.post('/calls', ({ body }, reply) =>
    reply.code(201).send(calls.place(parseFields<PlacedCallInput>(body, PLACED_CALL))),
  );
  app.post('/calls/start', ({ body }, reply) =>
    reply.code(201).send(calls.start(parseFields<CallInput>(body, CALL))),
  );
  app.post<One>('/calls/:id/end', ({ params }) => calls.end(params.id));
  app.post<One>('/calls/:id/recording', ({ params }) => calls.publishRecording(params.id));

  app.get('/messages', () => messages.list());
  app.get<One>('/messages/:id', ({ params }) => ({
    ...messages.get(params.id),
    activities: messages.activities().filter(({ messageId }) => messageId === params.id),
  }));
  app.post('/messages', ({ body }, reply) =>
    reply.code(201).send(messages.send(parseFields<MessageInput>(body, MESSAGE))),
  );
  app.post<One>('/messages/:id/activities', ({ params, body }, reply) =>
    reply.code(201).send(messages.record(params.id, parseFields<ActivityInput>(body, ACTIVITY))),
  );
}
