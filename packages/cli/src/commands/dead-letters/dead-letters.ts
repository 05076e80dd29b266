import type { Command } from 'commander';
import { examples, type App } from '../../app.ts';
import { listCommand } from './list.ts';
import { redriveCommand } from './redrive.ts';
import { removeCommand } from './remove.ts';
import { showCommand } from './show.ts';

/** `dead-letters`: what a receiver gave up, in its store. */
export function deadLettersCommand(app: App, base: Command): Command {
  return base
    .addCommand(listCommand(app))
    .addCommand(showCommand(app))
    .addCommand(redriveCommand(app))
    .addCommand(removeCommand(app))
    .addHelpText(
      'after',
      examples(['dead-letters list --store sqlite:calls.db', 'What failed for good']),
    );
}
