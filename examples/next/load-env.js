// Before Next: it reads its own .env too late for PORT.
import { existsSync } from 'node:fs';

if (existsSync('.env')) process.loadEnvFile();
