# Completion of the command cleave for bash. The lists of options are checked against --help by a
# test.

_cleave() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} options
    COMPREPLY=()

    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "plan inspect shards annotate strip help --help --version" -- "$cur")
        return
    fi
    case ${COMP_WORDS[1]} in
    plan)
        options="--cluster --devices --memory --bind --objective --optimal_perf --first-fit --search
            --sharding-nodes --jobs --max-candidates --compiler --compiler-timeout --configs --output --no-output
            --plan-out --input_model --num_ipus --output_model --num_processes --json --quiet --help"
        ;;
    inspect) options="--bind --json --quiet --help" ;;
    shards) options="--configuration --uneven --check --bind --json --quiet --help" ;;
    annotate) options="--plan --output --keep-ir --json --quiet --help" ;;
    strip) options="--all --output --json --quiet --help" ;;
    help) options="plan inspect shards annotate strip --help" ;;
    *) return ;;
    esac
    case $prev in
    --objective)
        mapfile -t COMPREPLY < <(compgen -W "latency throughput" -- "$cur")
        return
        ;;
    --search)
        mapfile -t COMPREPLY < <(compgen -W "default documented" -- "$cur")
        return
        ;;
    --uneven)
        mapfile -t COMPREPLY < <(compgen -W "refuse ceil balanced" -- "$cur")
        return
        ;;
    --configuration | --devices | --memory | --bind | --jobs | --max-candidates | --compiler-timeout | --num_ipus | --num_processes)
        return
        ;;
    esac
    if [[ $cur == -* || ${COMP_WORDS[1]} == help ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
}

complete -o filenames -F _cleave cleave
