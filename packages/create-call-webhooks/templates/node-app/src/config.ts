import { existsSync } from 'node:fs';

// In production, the platform sets the variables.
if (existsSync('.env')) process.loadEnvFile();

export const config = {
  port: Number(process.env.PORT ?? 3000),
  secret: process.env.CALL_WEBHOOK_SECRET,
  //: if sqlite
  sqliteFile: process.env.SQLITE_FILE ?? 'calls.db',
  //: end
  //: if postgres
  databaseUrl: process.env.DATABASE_URL,
  //: end
  //: if redis
  redisUrl: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379',
  //: end
};
