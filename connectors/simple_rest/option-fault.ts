/** Why the options can't be used together. */
export interface OptionFault {
  readonly option: string;
  readonly message: string;
}
