/* search_command.h - what cleave place and cleave solve have to do alike. */
#ifndef CLV_TESTS_SUPPORT_SEARCH_COMMAND_H
#define CLV_TESTS_SUPPORT_SEARCH_COMMAND_H

typedef struct {
    const char *folder;
    const char *command;      /* "place" */
    const char *noun;         /* of its operand: "workload" */
    const char *judge;        /* the script that says whether a solution is true */
    const char *small, *slow; /* problems in the folder: solved at once, and never */
    const char *deadline;     /* in seconds, for the slow one */
} search_command;

/* Standard output and -o are the same solution, and the solution is true. */
void search_writes_what_it_would_print(const search_command *s, const char *problem,
                                       const char *words);
void search_refuses_wrong_requests(const search_command *s);
void search_ends_at_a_deadline(const search_command *s);
/* signal: "INT"; code: that the command ends with. */
void search_ends_at_a_signal(const search_command *s, const char *signal, int code);

#endif
