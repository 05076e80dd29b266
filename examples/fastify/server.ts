import { createApp } from './app.ts';
import { path, port, secretsOf } from './config.ts';
import { handlers } from './handlers.ts';
import { openStorage } from './storage.ts';

const secret = secretsOf(process.env);
const storage = openStorage(process.env);
const app = createApp({ secret, storage, on: handlers, level: 'info' });

app.listen({ port, host: '0.0.0.0' }).then(
  () => app.log.info(`listening at http://127.0.0.1:${port}${path}`),
  fail, // such as a port that is in use
);

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    setTimeout(() => process.exit(1), 20_000).unref(); // if something does not end
    app.close().then(() => app.log.info('closed'), fail);
  });

function fail(error: unknown) {
  app.log.fatal(error);
  process.exit(1);
}
