import { inspectorPage } from '@call-webhooks/inspector';
import { SimulatorError, startSimulator, type Simulator } from '@call-webhooks/simulator';
import { badInput, environment } from '../cli-error.ts';
import { simulatorOptions, type SimulateOptions } from './options.ts';

/** Starts the simulator; what goes wrong is told with what to do about it. @throws CliError 2 and 3 */
export async function start(options: SimulateOptions): Promise<Simulator> {
  const wanted = simulatorOptions(options);
  try {
    return await startSimulator({ ...wanted, inspector: inspectorPage() });
  } catch (error) {
    if (error instanceof SimulatorError) {
      if (error.code === 'bad-snapshot' || error.code === 'db-in-use')
        throw environment(error.message);
      throw badInput(error.message);
    }
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE')
      throw environment(
        `Port ${String(wanted.port)} is in use: by another simulator, perhaps.`,
        'Stop that one, or take any free port: --port 0',
      );
    if (code === 'EACCES')
      throw environment(`This user may not listen on port ${String(wanted.port)}.`);
    throw error;
  }
}
