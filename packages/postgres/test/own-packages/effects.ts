import { drizzle as drizzleOnPg } from 'drizzle-orm/node-postgres';
import { pgSchema, text } from 'drizzle-orm/pg-core';
import { drizzle as drizzleOnPostgresJs } from 'drizzle-orm/postgres-js';
import createKnex from 'knex';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import postgres from 'postgres';
import { DataSource, EntitySchema, EntitySchemaOptions } from 'typeorm';
import type { Clients } from '../effects.ts';
import { openPrisma } from './prisma.ts';

export const effectsTable = (schema: string) =>
  pgSchema(schema).table('effects', { effect: text().notNull() });

/** The other clients that `completeIn` is promised for. */
export const CLIENTS: Clients = {
  'Drizzle on pg'(url, schema) {
    const pool = new pg.Pool({ connectionString: url });
    pool.on('error', () => undefined); // the server may stop first
    const root = drizzleOnPg(pool);
    return {
      client: root,
      transact: (work) =>
        root.transaction((tx) =>
          work({ tx, write: (effect) => tx.insert(effectsTable(schema)).values({ effect }) }),
        ),
      close: () => pool.end(),
    };
  },
  'Drizzle on postgres.js'(url, schema) {
    const client = postgres(url);
    const root = drizzleOnPostgresJs(client);
    return {
      client: root,
      transact: (work) =>
        root.transaction((tx) =>
          work({ tx, write: (effect) => tx.insert(effectsTable(schema)).values({ effect }) }),
        ),
      close: () => client.end(),
    };
  },
  Kysely(url, schema) {
    const pool = new pg.Pool({ connectionString: url });
    pool.on('error', () => undefined); // the server may stop first
    const root = new Kysely<{ effects: { effect: string } }>({
      dialect: new PostgresDialect({ pool }),
    });
    return {
      client: root,
      transact: (work) =>
        root.transaction().execute((trx) =>
          work({
            tx: trx,
            write: (effect) =>
              trx.withSchema(schema).insertInto('effects').values({ effect }).execute(),
          }),
        ),
      close: () => root.destroy(),
    };
  },
  Knex(url, schema) {
    const root = createKnex.default({ client: 'pg', connection: url });
    return {
      client: root,
      transact: (work) =>
        root.transaction((trx) =>
          work({
            tx: trx,
            write: async (effect) => trx('effects').withSchema(schema).insert({ effect }),
          }),
        ),
      close: () => root.destroy(),
    };
  },
  Prisma(url, schema) {
    const root = openPrisma(url, schema);
    return {
      client: root,
      transact: (work) =>
        root.$transaction((tx) =>
          work({ tx, write: (effect) => tx.effect.create({ data: { effect } }) }),
        ),
      close: () => root.$disconnect(),
    };
  },
  TypeORM(url, schema) {
    const options = new EntitySchemaOptions<{ number?: number; effect: string }>();
    const Effect = new EntitySchema(
      Object.assign(options, {
        name: 'effects',
        schema,
        columns: {
          number: { type: Number, primary: true, generated: true },
          effect: { type: String },
        } as const,
      }),
    );
    const root = new DataSource({ type: 'postgres', url, entities: [Effect] });
    const ready = root.initialize();
    return {
      client: root,
      async transact(work) {
        await ready;
        await root.transaction((manager) =>
          work({ tx: manager, write: (effect) => manager.insert(Effect, { effect }) }),
        );
      },
      close: () => root.destroy(),
    };
  },
};
