//: if hono
import { serve } from '@hono/node-server';
//: end
//: if memory
import { memoryStore } from '@call-webhooks/adapter';
//: end
import { createApp } from './app.ts';
import { config } from './config.ts';
//: if sqlite
import { db, store } from './store.ts';
//: end
//: if postgres
import { pool, store } from './store.ts';
//: end
//: if redis
import { redis, store } from './store.ts';
//: end

//: if postgres
await store.migrate(); // creates the tables that are missing

//: end
//: if memory
const store = memoryStore();
//: end
//: if fastify
const app = createApp({ secret: config.secret, store });
await app.listen({ port: config.port, host: '0.0.0.0' });
//: end
//: if express|hono|koa
const { app, receiver } = createApp({ secret: config.secret, store });
//: end
//: if express
const server = app.listen(config.port, (error) => {
  if (error) throw error;
  console.log(`Listening on http://localhost:${config.port}/hook`);
});
//: end
//: if koa
const server = app.listen(config.port, () => {
  console.log(`Listening on http://localhost:${config.port}/hook`);
});
//: end
//: if hono
const server = serve({ fetch: app.fetch, port: config.port }, ({ port }) => {
  console.log(`Listening on http://localhost:${port}/hook`);
});
//: end

async function shutDown() {
  setTimeout(() => process.exit(1), 20_000).unref(); // if something does not end
  //: if fastify
  await app.close(); // running handlers get 10 seconds to end
  //: end
  //: if express|hono|koa
  await receiver.close(); // running handlers get 10 seconds to end
  await new Promise((resolve) => server.close(resolve));
  //: end
  //: if sqlite
  db.close();
  //: end
  //: if postgres
  await store.close();
  await pool.end();
  //: end
  //: if redis
  await redis.quit();
  //: end
}

function stop() {
  shutDown().catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
}
process.once('SIGINT', stop);
process.once('SIGTERM', stop);
