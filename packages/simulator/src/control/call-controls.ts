import type { FastifyInstance } from 'fastify';
import type { CallInput, PlacedCallInput } from '../calls/call.ts';
import type { ActivityInput, MessageInput } from '../activity/message.ts';
import type { Simulation } from '../simulation.ts';
import { fieldsOf } from './input.ts';

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

type OfOne = { Params: { id: string } };

/** What people do: they place calls, and open messages. */
export function callControls(app: FastifyInstance, { calls, messages }: Simulation): void {
  app.get('/calls', () => calls.list());
  app.get<OfOne>('/calls/:id', ({ params }) => calls.get(params.id));
  app.post('/calls', ({ body }, reply) =>
    reply.code(201).send(calls.place(fieldsOf<PlacedCallInput>(body, PLACED_CALL))),
  );
  app.post('/calls/start', ({ body }, reply) =>
    reply.code(201).send(calls.start(fieldsOf<CallInput>(body, CALL))),
  );
  app.post<OfOne>('/calls/:id/end', ({ params }) => calls.end(params.id));
  app.post<OfOne>('/calls/:id/recording', ({ params }) => calls.publishRecording(params.id));

  app.get('/messages', () => messages.list());
  app.get<OfOne>('/messages/:id', ({ params }) => ({
    ...messages.get(params.id),
    activities: messages.activities().filter(({ messageId }) => messageId === params.id),
  }));
  app.post('/messages', ({ body }, reply) =>
    reply.code(201).send(messages.send(fieldsOf<MessageInput>(body, MESSAGE))),
  );
  app.post<OfOne>('/messages/:id/activities', ({ params, body }, reply) =>
    reply.code(201).send(messages.record(params.id, fieldsOf<ActivityInput>(body, ACTIVITY))),
  );
}
