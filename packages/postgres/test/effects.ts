import { drizzle as drizzleOnPg } from 'drizzle-orm/node-postgres';
import { drizzle as drizzleOnPostgresJs } from 'drizzle-orm/postgres-js';
import createKnex from 'knex';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import postgres from 'postgres';
import { DataSource, EntitySchema, EntitySchemaOptions } from 'typeorm';
import { effectsTable, insertInto, type Transactions } from './open-with-effects.ts';
import { openPrisma } from './support-prisma.ts';

/** Each client that `completeIn` is promised for, as its users use it. */
export const CLIENTS: Record<string, (url: string, schema: string) => Transactions> = {
  pg(url, schema) {
    const pool = new pg.Pool({ connectionString: url });
    pool.on('error', () => undefined); // the server may stop first
    return {
      root: pool,
      async transact(work) {
        const client = await pool.connect();
        try {
          await client.query('BEGIN');
          await work({
            tx: client,
            write: (effect) => client.query(insertInto(schema), [effect]),
          });
          await client.query('COMMIT');
        } catch (error) {
          await client.query('ROLLBACK');
          throw error;
        } finally {
          client.release();
        }
      },
      close: () => pool.end(),
    };
  },
  'postgres.js'(url, schema) {
    const root = postgres(url, { onnotice: () => undefined });
    return {
      root,
      async transact(work) {
        await root.begin((sql) =>
          work({
            tx: sql,
            write: (effect) => sql`INSERT INTO ${sql(schema)}.effects ${sql({ effect })}`,
          }),
        );
      },
      close: () => root.end(),
    };
  },
  'postgres.js with renamed columns'(url, schema) {
    const root = postgres(url, { transform: postgres.toPascal });
    return {
      root,
      async transact(work) {
        await root.begin((sql) =>
          work({ tx: sql, write: (effect) => sql.unsafe(insertInto(schema), [effect]) }),
        );
      },
      close: () => root.end(),
    };
  },
  'Drizzle on pg'(url, schema) {
    const pool = new pg.Pool({ connectionString: url });
    pool.on('error', () => undefined); // the server may stop first
    const root = drizzleOnPg(pool);
    return {
      root,
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
      root,
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
      root,
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
      root,
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
      root,
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
      root,
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
