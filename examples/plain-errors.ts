// Imported by the servers of several examples. It prints a configuration error as one line with the
// fix, and any other error with its stack trace.
import { WebhookError } from '@call-webhooks/core';

process.once('uncaughtException', (error: NodeJS.ErrnoException) => {
  if (error instanceof WebhookError && error.code === 'invalid-secret')
    console.error(`CALL_WEBHOOK_SECRET: ${error.message}`);
  else if (error.name === 'ConfigurationError')
    console.error(`SERVICE_URL, API_TOKEN: ${error.message}`);
  else if (error.syscall === 'listen') console.error(`PORT: ${error.message}`);
  else console.error(error);
  process.exit(1);
});
