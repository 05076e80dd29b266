import { callWebhooks } from '@call-webhooks/next';
import { pino } from 'pino';
import { handlers } from '../../handlers.ts';
import { deadLetters, store } from '../../storage.ts';

/** The rule's webhook action and the recording webhook have separate secrets. `next build` needs none. */
const secretsOf = (env: Partial<NodeJS.ProcessEnv>) =>
  ['CALL_WEBHOOK_SECRET', 'RECORDING_WEBHOOK_SECRET'].map((name) => {
    const secret = env[name];
    if (!secret) throw new Error(`${name} is not set. See .env.example.`);
    return secret;
  });

export const POST = callWebhooks({
  secret: () => secretsOf(process.env),
  store,
  deadLetter: deadLetters,
  on: handlers,
  logger: pino(),
});
