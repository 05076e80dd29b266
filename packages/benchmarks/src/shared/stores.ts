import type { Store } from '@call-webhooks/core';
import { Redis } from 'ioredis';
import Database from 'libsql';
import pg from 'pg';
import { importPackage } from '../checkout.ts';
import type { SharedName } from './names.ts';

/** Connections of one process: eight of them fit a server with its default of 100. */
const POOL = 8;

/**
 * Opens a store for one process.
 * @param place the port of its server on the loopback, or the path of its file
 */
export async function openStore(name: SharedName, place: string, root: string): Promise<Store> {
  if (name === 'redis') {
    const { redisStore } = await importPackage<typeof import('@call-webhooks/redis')>(root, name);
    return redisStore(new Redis(Number(place), '127.0.0.1'));
  }
  if (name === 'sqlite') {
    const { sqliteStore } = await importPackage<typeof import('@call-webhooks/sqlite')>(root, name);
    return sqliteStore(new Database(place));
  }
  const { postgresStore } = await importPackage<typeof import('@call-webhooks/postgres')>(
    root,
    name,
  );
  const pool = new pg.Pool({ host: '127.0.0.1', port: Number(place), user: 'postgres', max: POOL });
  const store = postgresStore(pool);
  await store.migrate();
  return store;
}
