// For a configuration error, prints one line with the fix; for any other error, the stack trace.
import { WebhookError } from '@call-webhooks/core';

process.once('uncaughtException', (error: NodeJS.ErrnoException) => {
  if (error instanceof WebhookError && error.code === 'invalid-secret')
    console.error(`CALL_WEBHOOK_SECRET: ${error.message}`);
  else if (error.syscall === 'listen') console.error(`PORT: ${error.message}`);
  else console.error(error);
  process.exit(1);
});
