import type { Command } from 'commander';
import { examples, type App } from '../../app.ts';
import { listCommand } from './list.ts';
import { redriveCommand } from './redrive.ts';
import { removeCommand } from './remove.ts';
import { showCommand } from './show.ts';

/** `dead-letters`: what a receiver gave up, in its store. */
export function deadLettersCommand(app: App): Command {
  return app
    .command('dead-letters', "List and redrive what failed for good, in a receiver's store")
    .addCommand(listCommand(app))
    .addCommand(showCommand(app))
    .addCommand(redriveCommand(app))
    .addCommand(removeCommand(app))
    .addHelpText(
      'after',
      examples(['dead-letters list --store sqlite:calls.db', 'What failed for good']),
    );
}
