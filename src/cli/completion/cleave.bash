# Completion of the command cleave for bash. The lists of options are checked against --help by a
# test.

# Where this file is: the configs are beside it, installed or in the source.
_cleave_folder=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

# The names in a folder of configs.
_cleave_configs() {
    local file
    for file in "$_cleave_folder"/../../cleave/configs/"$1"/*.json \
        "$_cleave_folder"/../../../configs/"$1"/*.json; do
        [ -e "$file" ] && basename -- "$file" .json
    done
}

# The words of $1 that begin with $cur; before a word that is written --name=value stands $before.
_cleave_words() {
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "$cur")
}

_cleave() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} before="" options
    COMPREPLY=()

    if [ "$COMP_CWORD" -eq 1 ]; then
        _cleave_words "plan inspect shards annotate strip lower verify shard reshard collect calibrate place solve rules clusters help --help --version"
        return
    fi
    # --name=value is three words for most shells, and one where '=' does not break words.
    if [ "$cur" = = ]; then
        cur=
    elif [ "$prev" = = ]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    elif [[ $cur == --*=* ]]; then
        prev=${cur%%=*} before=${cur%%=*}= cur=${cur#*=}
    fi
    case ${COMP_WORDS[1]} in
    plan)
        options="--cluster --devices --memory --headroom --bind --objective --optimal_perf --first-fit --search
            --sharding-nodes --constraints --jobs --max-candidates --deadline --gap --microbatches --mesh --max-tp --stages --copies --batch-symbol --max-latency --worth --alternatives --profile --data-parallel --overlap --runtime --weights --kv --backward --compiler --compiler-timeout --configs --output --no-output
            --plan-out --input_model --num_ipus --output_model --num_processes --color --json --quiet --help"
        ;;
    inspect) options="--bind --cluster --devices --memory --headroom --configs --color --json --quiet --help" ;;
    shards) options="--all --node --tensor --configuration --uneven --tiles --check --profile --bind --color --json --quiet --help" ;;
    annotate) options="--plan --output --keep-ir --color --json --quiet --help" ;;
    strip) options="--all --output --color --json --quiet --help" ;;
    verify) options="--inputs --seed --all --proof-only --runner --configuration --bind --color --json --quiet --help" ;;
    shard) options="--layout --plan --weights --fill --max-file-size --output --color --json --quiet --help" ;;
    reshard) options="--layout --plan --dry-run --weights --max-file-size --output --color --json --quiet --help" ;;
    collect) options="--output --color --json --quiet --help" ;;
    calibrate) options="--runner --output --devices --measured --score --device --source --date --library --keep --configs --color --json --quiet --help" ;;
    lower) options="--form --output --collectives --weights --color --json --quiet --help" ;;
    place) options="--objective --contiguous --free --max-load --deadline --gap --seed --output --mps --color --json --quiet --help" ;;
    solve) options="--deadline --gap --jobs --seed --output --color --json --quiet --help" ;;
    rules) options="--color --json --quiet --help" ;;
    clusters) options="--configs --color --json --quiet --help" ;;
    help) options="plan inspect shards annotate strip lower verify shard reshard collect calibrate place solve rules clusters --help" ;;
    *) return ;;
    esac
    case $prev in
    --cluster)
        mapfile -t COMPREPLY < <(
            compgen -P "$before" -W "$(_cleave_configs clusters)" -- "$cur"
            compgen -P "$before" -f -- "$cur"
        )
        return
        ;;
    --profile)
        mapfile -t COMPREPLY < <(
            compgen -P "$before" -W "$(_cleave_configs backends)" -- "$cur"
            compgen -P "$before" -f -- "$cur"
        )
        return
        ;;
    --objective)
        if [[ ${COMP_WORDS[1]} == place ]]; then
            _cleave_words "throughput latency devices"
        else
            _cleave_words "latency throughput devices"
        fi
        return
        ;;
    --search)
        _cleave_words "default documented"
        return
        ;;
    --form)
        _cleave_words "stages devices emulate ort-options olive"
        return
        ;;
    --collectives)
        _cleave_words "ort tensorrt"
        return
        ;;
    --weights)
        _cleave_words "external safetensors ranges"
        return
        ;;
    --color)
        _cleave_words "auto always never"
        return
        ;;
    --uneven)
        _cleave_words "refuse ceil balanced"
        return
        ;;
    --configuration | --node | --tensor | --devices | --memory | --headroom | --bind | --jobs | --max-candidates | --compiler-timeout | --num_ipus | --num_processes | \
        --max-load | --deadline | --gap | --seed | --microbatches | --mesh | --max-tp | --stages | --copies | --batch-symbol | --max-latency | --worth | --alternatives | --backward)
        return
        ;;
    esac
    if [[ ${COMP_WORDS[1]} == clusters && -z $before && $cur != -* ]]; then
        mapfile -t COMPREPLY < <(
            compgen -W "$(_cleave_configs clusters)" -- "$cur"
            compgen -f -- "$cur"
        )
    elif [[ -z $before && $cur == -* || ${COMP_WORDS[1]} == help ]]; then
        _cleave_words "$options"
    else
        mapfile -t COMPREPLY < <(compgen -P "$before" -f -- "$cur")
    fi
}

complete -o filenames -F _cleave cleave
