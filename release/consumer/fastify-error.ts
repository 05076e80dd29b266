// A type error in the options is reported once, where it is.
import { callWebhooks } from '@call-webhooks/fastify';
import fastify from 'fastify';

void fastify().register(
  callWebhooks({ secret: 'x', on: { 'call:started': (event) => event.calId } }),
);
