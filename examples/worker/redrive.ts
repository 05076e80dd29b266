// Gives the jobs that failed for good back to the workers, after the cause is fixed.
import { redrive } from '@call-webhooks/recovery';
import './config.ts'; // reads .env
import { openJobs } from './jobs.ts';

const jobs = openJobs(process.env);
const { queued } = await redrive({ deadJobs: jobs.deadJobs });
console.log(`Jobs that run again: ${queued}`);
await jobs.close();
