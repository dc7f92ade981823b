/** A combination of options that can't be used. The message can follow the option's name. */
export interface DbOptionFault {
  readonly option: string;
  readonly message: string;
}
