import type { Config } from '../../config/config.ts';
import type { Events } from '../../lib/events.ts';
import type { Store } from '../../state/store.ts';
import type { SluiceEvents } from '../events.ts';
import type { Pulse } from '../pulse.ts';
import { accountLabel } from './counters.ts';

/** One thing that was looked at. */
export interface Look {
  readonly name: string;
  readonly ok: boolean;
  readonly said: string;
}

export interface ReadinessGiven {
  readonly store: Store;
  readonly events: Events<SluiceEvents>;
  readonly pulse: Pulse;
  readonly config: () => Config;
}

/** Knows whether the daemon is alive, and whether it can do its work. */
export class Readiness {
  readonly #given: ReadinessGiven;
  /** Accounts whose credentials the service does not take. */
  readonly #refused = new Set<string>();
  #isStopping = false;

  constructor(given: ReadinessGiven) {
    this.#given = given;
    given.events.listen((...[name, facts]) => {
      if (name === 'login.refused') this.#refused.add(facts.account);
      if (name === 'request.answered' && (facts.status ?? 999) < 400) this.#refused.delete(facts.account);
      if (name === 'config.reloaded') this.#refused.clear();
      if (name === 'daemon.stopping') this.#isStopping = true;
    });
  }

  /** For who restarts what has died: this process answers, its schedules tick. */
  alive(): Look[] {
    const { ticking, said } = this.#given.pulse.check();
    return [{ name: 'scheduler', ok: ticking || this.#isStopping, said }];
  }

  /** For who wants to know whether data flows: the state can be read and written, a config is in force, credentials are taken. */
  async ready(): Promise<Look[]> {
    return [...this.alive(), await this.#state(), this.#config(), ...this.#destinations()];
  }

  async #state(): Promise<Look> {
    try {
      await this.#given.store.settings.find('');
      const problem = this.#given.store.unwritable();
      if (problem === undefined) return { name: 'state', ok: true, said: 'the state can be read and written' };
      return { name: 'state', ok: false, said: `the state cannot be written: ${problem.code}, ${problem.message}` };
    } catch (error) {
      return { name: 'state', ok: false, said: `the state cannot be read: ${String(error)}` };
    }
  }

  #config(): Look {
    if (this.#isStopping) return { name: 'config', ok: false, said: 'the daemon is stopping' };
    const { size } = this.#given.config().jobs;
    return { name: 'config', ok: true, said: `${size} ${size === 1 ? 'job' : 'jobs'} in force` };
  }

  #destinations(): Look[] {
    const config = this.#given.config();
    const refused = [...this.#refused].map((account) => accountLabel(config, account));
    if (refused.length === 0) return [{ name: 'destinations', ok: true, said: 'no destination refuses us' }];
    return refused.map((name) => ({ name: 'destinations', ok: false, said: `${name} refuses our credentials` }));
  }
}
